#pragma once

#include <optional>

#include "calibrate/ranges.h"
#include "calibrate/statistics.h"
#include "config/config.h"

namespace qtool {

/// The extremes of all samples, or with `moving_average` the mean of each sample's extremes; made
/// symmetric around zero where `symmetric` asks for it. Nothing for a tensor without a finite
/// value.
std::optional<Range> minmax_range(const TensorStatistics& statistics,
                                  const CalibrationConfig& config);

}  // namespace qtool
