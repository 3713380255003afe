#pragma once

#include <string>

#include "pipeline/static_report.h"

namespace qtool {

/// The text of `OUTPUT.manifest.json`: what the output was made of and by what, and what was found
/// of it. Nothing in it but `created` differs between two runs on the same input. `config` is that
/// of the report with its paths as seen from the manifest's folder.
std::string manifest_json(const StaticReport& report, const Config& config);

}  // namespace qtool
