#pragma once

#include <string_view>

#include "pipeline/calibrate_report.h"

namespace qtool {

/// Writes what a form of `calibrate` has made to `model.output`, with its manifest, and says so in
/// the report. Does nothing in a dry run.
void publish_table(CalibrateReport& report, std::string_view content);

}  // namespace qtool
