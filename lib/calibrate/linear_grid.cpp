#include "calibrate/linear_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qtool {
namespace {

struct ScaleAndZeroPoint {
  float scale = 1;
  std::int32_t zero_point = 0;
};

ScaleAndZeroPoint spread_over(Range range, const QuantizedLevels& levels) {
  const auto [low, high] = quantized_range(range, levels);
  const double steps = static_cast<double>(levels.spread_max) - levels.spread_min;
  const double scale = (static_cast<double>(high) - static_cast<double>(low)) / steps;
  if (scale < static_cast<double>(std::numeric_limits<float>::min())) return {};
  const double zero = levels.is_symmetric ? (levels.spread_min + levels.spread_max) / 2.0
                                          : levels.spread_min - static_cast<double>(low) / scale;
  // std::nearbyint rounds half to even in the default rounding mode, which qtool never changes.
  return {static_cast<float>(scale), static_cast<std::int32_t>(std::nearbyint(zero))};
}

}  // namespace

Range quantized_range(Range range, const QuantizedLevels& levels) {
  // Zero must have an exact integer: padding and Relu rely on it.
  float low = std::min(range.min, 0.0F);
  float high = std::max(range.max, 0.0F);
  if (levels.minimum_real_range)
    high = std::max(high, low + static_cast<float>(*levels.minimum_real_range));
  if (levels.is_symmetric) {
    high = std::max(-low, high);
    low = -high;
  }
  return {low, high};
}

LinearGrid linear_grid(Range range, const QuantizedLevels& levels) {
  const auto [scale, zero_point] = spread_over(range, levels);
  const double step = scale;
  return {scale, zero_point, step * (static_cast<double>(levels.clamp_min) - zero_point),
          step * (static_cast<double>(levels.clamp_max) - zero_point)};
}

}  // namespace qtool
