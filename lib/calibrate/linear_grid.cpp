#include "calibrate/linear_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/float_values.h"

namespace qtool {
namespace {

struct ScaleAndZeroPoint {
  float scale = 1;
  std::int32_t zero_point = 0;
};

// std::nearbyint rounds half to even in the default rounding mode, which qtool never changes.
std::int32_t nearest(double zero_point) {
  return static_cast<std::int32_t>(std::nearbyint(zero_point));
}

float rounded(double value, ElementType type) { return static_cast<float>(round_to(type, value)); }

/// `value` as a number of `type`, the last finite one where it is beyond.
float nearest_finite(double value, ElementType type) {
  const double largest =
      type == ElementType::Float16 ? 65504.0 : double{std::numeric_limits<float>::max()};
  return rounded(std::clamp(value, -largest, largest), type);
}

ScaleAndZeroPoint spread_over(Range range, const QuantizedLevels& levels) {
  const Range spread = quantized_range(range, levels);
  const float low = spread.min, high = spread.max;
  const double steps = static_cast<double>(levels.spread_max) - levels.spread_min;
  const double scale = (static_cast<double>(high) - static_cast<double>(low)) / steps;
  const float stored = rounded(scale, levels.value_type);
  // float32 is judged before rounding and float16 after it, as ONNX Runtime does.
  const bool is_half = levels.value_type == ElementType::Float16;
  if (is_degenerate(is_half ? static_cast<double>(stored) : scale, levels.value_type)) return {};
  if (levels.is_symmetric) return {stored, middle_zero_point(levels)};
  return {stored, nearest(levels.spread_min - static_cast<double>(low) / scale)};
}

/// The least scale that reaches both ends from the least or the middle integer.
ScaleAndZeroPoint spread_from_fixed_zero(Range range, const QuantizedLevels& levels) {
  const double steps = static_cast<double>(levels.spread_max) - levels.spread_min;
  const double least = levels.minimum_real_range.value_or(0);
  const double low = std::min(double{range.min}, 0.0);
  double high = std::max(double{range.max}, 0.0);
  if (least > 0) high = std::max(high, low + least);
  const std::int32_t middle = (levels.spread_min + levels.spread_max + 1) / 2;
  const std::int32_t zero_point = low < 0 ? middle : levels.spread_min;
  double scale = high > low ? high / (levels.spread_max - zero_point) : 1 / steps;
  if (low < 0) scale = std::max(scale, -low / (middle - levels.spread_min));
  const float stored = rounded(std::max(double{rounded(scale, levels.value_type)}, least / steps),
                               levels.value_type);
  return stored > 0 ? ScaleAndZeroPoint{stored, zero_point} : ScaleAndZeroPoint{};
}

}  // namespace

std::int32_t middle_zero_point(const QuantizedLevels& levels) {
  return nearest((static_cast<double>(levels.spread_min) + levels.spread_max) / 2);
}

bool is_degenerate(double scale, ElementType value_type) {
  // Values are divided by the scale in float32, where float16's subnormal numbers are normal ones.
  return value_type == ElementType::Float16
             ? scale < 0x1p-24
             : scale < static_cast<double>(std::numeric_limits<float>::min());
}

Range quantized_range(Range range, const QuantizedLevels& levels) {
  // Zero must have an exact integer: padding and Relu rely on it.
  float low = nearest_finite(std::min(range.min, 0.0F), levels.value_type);
  float high = nearest_finite(std::max(range.max, 0.0F), levels.value_type);
  if (levels.minimum_real_range) {
    const float least = nearest_finite(*levels.minimum_real_range, levels.value_type);
    high = std::max(high, nearest_finite(low + least, levels.value_type));
  }
  if (levels.is_symmetric) {
    high = std::max(-low, high);
    low = -high;
  }
  return {low, high};
}

LinearGrid linear_grid(Range range, const QuantizedLevels& levels) {
  const bool is_fixed = levels.is_restricted && !levels.is_symmetric;
  const auto [scale, zero_point] =
      is_fixed ? spread_from_fixed_zero(range, levels) : spread_over(range, levels);
  const double step = scale;
  return {scale, zero_point, step * (static_cast<double>(levels.clamp_min) - zero_point),
          step * (static_cast<double>(levels.clamp_max) - zero_point)};
}

}  // namespace qtool
