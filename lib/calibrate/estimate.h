#pragma once

#include <map>
#include <string>

#include "calibrate/linear_grid.h"
#include "calibrate/ranges.h"
#include "calibrate/statistics.h"
#include "config/config.h"

namespace qtool {

/// What the config's method needs to know of a tensor.
StatisticsKind statistics_for(const CalibrationConfig& config);

/// Whether a range can stand for the values. No integer stands for infinity: a mask of -inf that is
/// cut to the other values' range would mask no more.
bool has_range(const TensorStatistics& statistics, const CalibrationConfig& config);

/// Ranges by the config's method; `levels` is what they will be quantized to, which mse and auto
/// ask. The statistics are of the kind that the method needs.
TensorRanges estimate_ranges(const std::map<std::string, TensorStatistics>& statistics,
                             const CalibrationConfig& config, const QuantizedLevels& levels,
                             int threads);

}  // namespace qtool
