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
  /// int4 that is symmetric: spread over [-7, 7], where the largest magnitude has a level on both
  /// sides. ONNX Runtime spreads over [-8, 7], which has none for +7.5.
  bool is_narrow = false;
};

ElementType element_type(QuantType type);

/// Whether values are stored as 8-bit floating-point numbers, with zero point 0.
bool is_float8(ElementType type);

/// How activations are quantized under this config.
QuantScheme activation_scheme(const QuantizationConfig& config);

/// All values of an integer type; quantized values are clamped to it. Of float8 the ends, which are
/// whole numbers.
IntegerRange full_range(ElementType type);
/// The values that a range is spread over: full, one less below zero where symmetric, a bit less
/// where reduced.
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

/// Scale of values with this standard deviation as float8: the deviation of all numbers of the type
/// becomes theirs. 1 where there is no deviation.
ScaleAndZero float8_scale(double deviation, ElementType value_type = ElementType::Float);

/// The same for one block of a tensor, as ONNX Runtime computes it (docs/numerics.md, "Blocks").
ScaleAndZero block_scale_and_zero(Range range, const QuantScheme& scheme);

/// clamp(round_half_even(value / scale) + zero_point) over the full range of `type`.
std::int32_t quantize_value(float value, const ScaleAndZero& params, ElementType type);

}  // namespace qtool
