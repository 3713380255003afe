#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/linear_grid.h"
#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/element_type.h"
#include "quantize/plan.h"

namespace qtool {

/// Integers that a range is spread over.
struct IntegerRange {
  std::int32_t min = 0;
  std::int32_t max = 0;
};

/// How one tensor is quantized, before its values are known.
struct QuantScheme {
  ElementType type = ElementType::Undefined;
  bool is_symmetric = false;
  bool is_reduced = false;  ///< one bit less, for kernels that add products in 16 bits
  std::optional<double> minimum_real_range = {};
  /// uint8 that is not symmetric: the zero point is 0 or 128 (ActivationRestrictedAsymmetric).
  bool is_restricted = false;
  /// Float or Float16, the type of the values: ranges are widened and scales rounded in it.
  ElementType value_type = ElementType::Float;
};

ElementType element_type(QuantType type);

/// How activations are quantized under this config.
QuantScheme activation_scheme(const QuantizationConfig& config);

/// All values of an integer type; quantized values are clamped to it.
IntegerRange full_range(ElementType type);
/// The values that a range is spread over: full, [-127, 127] where symmetric, 7-bit where reduced.
IntegerRange spread_range(const QuantScheme& scheme);

/// The same as calibration is told it.
QuantizedLevels quantized_levels(const QuantScheme& scheme);
/// The integers that activations are quantized to under this config.
QuantizedLevels activation_levels(const QuantizationConfig& config);

/// Scale and zero point of `range` (docs/numerics.md, "Scale and zero point").
struct ScaleAndZero {
  float scale = 1;
  std::int32_t zero_point = 0;
};
ScaleAndZero scale_and_zero(Range range, const QuantScheme& scheme);

/// clamp(round_half_even(value / scale) + zero_point) over the full range of `type`.
std::int32_t quantize_value(float value, const ScaleAndZero& params, ElementType type);

}  // namespace qtool
