#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/progress.h"
#include "calibrate/ranges.h"
#include "calibrate/statistics.h"
#include "config/config.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

struct CalibrationResult {
  std::map<std::string, TensorStatistics> statistics;
  std::size_t sample_count = 0;
};

/// Runs `model` once over all samples and records the statistics of `tensors` (float32 values of
/// the main graph). Samples run side by side on `threads` cores; memory does not grow with their
/// number.
CalibrationResult collect_statistics(const Model& model, std::span<const std::string> tensors,
                                     const SampleFolder& samples, int threads,
                                     const Progress& progress);

/// Ranges by the config's method; tensors without a finite value get none.
TensorRanges estimate_ranges(const CalibrationResult& result, const CalibrationConfig& config);

}  // namespace qtool
