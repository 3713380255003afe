#pragma once

#include <span>
#include <vector>

#include "pipeline/coverage_report.h"

namespace qtool {

/// The gates on coverage that the config sets, judged on every tensor that has a range and values.
/// A gate with nothing to judge is not met.
std::vector<Gate> judge_coverage(const CalibrationConfig& config,
                                 std::span<const TensorCoverage> tensors);

}  // namespace qtool
