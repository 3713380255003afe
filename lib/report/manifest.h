#pragma once

#include <string>

#include "pipeline/calibrate_report.h"
#include "pipeline/dynamic_report.h"
#include "pipeline/float16_report.h"
#include "pipeline/preprocess_result.h"
#include "pipeline/static_report.h"

namespace qtool {

/// The text of `OUTPUT.manifest.json`: what the output was made of and by what, and what was found
/// of it. Nothing in it but `created` differs between two runs on the same input.
std::string manifest_json(const StaticReport& report);
std::string manifest_json(const DynamicReport& report);
std::string manifest_json(const Float16Report& report);
std::string manifest_json(const PreprocessResult& result);
std::string manifest_json(const CalibrateReport& report);

}  // namespace qtool
