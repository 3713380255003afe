#pragma once

#include <optional>

#include "calibrate/ranges.h"
#include "calibrate/statistics.h"
#include "config/config.h"

namespace qtool {

/// Whether the range is a matter of which samples come after one another: a moving average over
/// strides. Without it strides change nothing, since extremes of extremes are extremes.
bool needs_sample_extremes(const CalibrationConfig& config);

/// The extremes of all samples; with `moving_average` the mean of each sample's extremes, or with
/// `stride` too that of the samples of each stride, averaged over strides. Made symmetric around
/// zero where `symmetric` asks for it. Nothing for a tensor without a finite value.
std::optional<Range> minmax_range(const TensorStatistics& statistics,
                                  const CalibrationConfig& config);

}  // namespace qtool
