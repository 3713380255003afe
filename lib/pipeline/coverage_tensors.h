#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "calibrate/coverage.h"
#include "calibrate/ranges.h"
#include "pipeline/coverage_report.h"

namespace qtool {

/// The `count` tensors that their ranges fit worst, or as many as have a range and values: by the
/// share that is clipped, then by how little of the range is used, then by name.
std::vector<ScenarioTensor> worst_tensors(const std::map<std::string, HeldOutValues>& values,
                                          const TensorRanges& ranges, std::size_t count);

/// The same order of all; tensors without a range or without values come last, by name.
void sort_worst_first(std::vector<TensorCoverage>& tensors);

}  // namespace qtool
