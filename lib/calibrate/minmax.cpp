#include "calibrate/minmax.h"

#include <algorithm>
#include <cmath>

namespace qtool {

std::optional<Range> minmax_range(const TensorStatistics& statistics,
                                  const CalibrationConfig& config) {
  if (statistics.value_count == 0) return std::nullopt;
  Range out{statistics.min.value, statistics.max.value};
  if (config.moving_average) {
    const auto samples = static_cast<double>(statistics.sample_count);
    out = {static_cast<float>(statistics.sum_of_minima.value() / samples),
           static_cast<float>(statistics.sum_of_maxima.value() / samples)};
  }
  if (config.symmetric) {
    const float end = std::max(std::abs(out.min), std::abs(out.max));
    out = {-end, end};
  }
  return out;
}

}  // namespace qtool
