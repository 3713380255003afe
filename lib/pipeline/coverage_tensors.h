#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "calibrate/coverage.h"
#include "calibrate/ranges.h"
#include "calibrate/statistics.h"
#include "pipeline/coverage_report.h"

namespace qtool {

/// Share of the values that lie outside of the range.
double clipped_share(const RangeUse& use, const TensorStatistics& statistics);

/// The `count` tensors that their ranges fit worst, or as many as have a range and values: by the
/// share that is clipped, then by how little of the range is used, then by name.
std::vector<ScenarioTensor> worst_tensors(const std::map<std::string, TensorStatistics>& statistics,
                                          const TensorRanges& ranges, std::size_t count);

/// The same order of all; tensors without a range or without values come last, by name.
void sort_worst_first(std::vector<TensorCoverage>& tensors);

}  // namespace qtool
