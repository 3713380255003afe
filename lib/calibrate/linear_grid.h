#pragma once

#include <cstdint>
#include <optional>

#include "calibrate/ranges.h"
#include "model/element_type.h"

namespace qtool {

/// The integers that a range is going to be quantized to.
struct QuantizedLevels {
  std::int32_t spread_min = 0;  ///< the range is spread over these ([-127, 127] for symmetric int8)
  std::int32_t spread_max = 255;
  std::int32_t clamp_min = 0;  ///< values are clamped to these ([-128, 127] for int8 always)
  std::int32_t clamp_max = 255;
  bool is_symmetric = false;
  std::optional<double> minimum_real_range{};
  /// Not symmetric: the zero point is the least integer, or the middle one where there are negative
  /// values.
  bool is_restricted = false;
  /// Float or Float16: what the ends of the range and the scale are rounded to.
  ElementType value_type = ElementType::Float;
};

/// The zero point in the middle of the spread; of those that are not whole, the even one beside it.
std::int32_t middle_zero_point(const QuantizedLevels& levels);

/// Whether `scale`, rounded to float32 or float16, is too small to divide by: then 1 is taken, and
/// zero point 0.
bool is_degenerate(double scale, ElementType value_type);

/// Real numbers that quantized values stand for: scale (q - zero_point), q from clamp_min to
/// clamp_max.
struct LinearGrid {
  float scale = 1;
  std::int32_t zero_point = 0;
  double lowest = 0;
  double highest = 0;
};

/// What the quantizer spreads the levels over: `range` with zero in it, at least as wide as
/// `minimum_real_range`, and as far on both sides of zero where the levels are symmetric.
Range quantized_range(Range range, const QuantizedLevels& levels);

/// The grid that `range` is quantized to (docs/numerics.md, "Scale and zero point"); the quantizer
/// takes scale and zero point from here too.
LinearGrid linear_grid(Range range, const QuantizedLevels& levels);

}  // namespace qtool
