#include "quantize/params.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/float_values.h"

namespace qtool {
namespace {

struct TypeRanges {
  ElementType type;
  IntegerRange full, symmetric, reduced;
};

// ONNX Runtime's. Reduced signed ranges of 8 and 16 bits have zero in the middle.
constexpr TypeRanges kTypeRanges[] = {
    {ElementType::Int8, {-128, 127}, {-127, 127}, {-64, 64}},
    {ElementType::UInt8, {0, 255}, {0, 255}, {0, 127}},
    {ElementType::Int16, {-32768, 32767}, {-32767, 32767}, {-16384, 16384}},
    {ElementType::UInt16, {0, 65535}, {0, 65535}, {0, 32767}},
    {ElementType::Int4, {-8, 7}, {-8, 7}, {-4, 3}},
    {ElementType::UInt4, {0, 15}, {0, 15}, {0, 7}},
    {ElementType::Float8E4M3FN, {-448, 448}, {-448, 448}, {-448, 448}},
};

const TypeRanges& ranges_of(ElementType type) {
  const auto* const found = std::ranges::find(kTypeRanges, type, &TypeRanges::type);
  if (found == std::ranges::end(kTypeRanges))
    throw Error(ErrorKind::Internal, "no integer range for type " + element_type_name(type));
  return *found;
}

/// Population standard deviation of the 254 finite numbers of float8e4m3fn, in float32.
constexpr float kFloat8Deviation = 100.05772399902344F;

}  // namespace

ElementType element_type(QuantType type) {
  switch (type) {
    case QuantType::Int8:
      return ElementType::Int8;
    case QuantType::UInt8:
      return ElementType::UInt8;
    case QuantType::Int16:
      return ElementType::Int16;
    case QuantType::UInt16:
      return ElementType::UInt16;
    case QuantType::Int4:
      return ElementType::Int4;
    case QuantType::UInt4:
      return ElementType::UInt4;
    case QuantType::Float8E4M3FN:
      return ElementType::Float8E4M3FN;
  }
  return ElementType::Undefined;
}

bool is_float8(ElementType type) { return type == ElementType::Float8E4M3FN; }

QuantScheme activation_scheme(const QuantizationConfig& config) {
  return {.type = element_type(config.activation_type),
          .is_symmetric = config.extra_options.activation_symmetric.value_or(false),
          .is_reduced = false,
          .minimum_real_range = config.extra_options.minimum_real_range,
          .is_restricted = config.extra_options.activation_restricted_asymmetric};
}

IntegerRange full_range(ElementType type) { return ranges_of(type).full; }

IntegerRange spread_range(const QuantScheme& scheme) {
  const TypeRanges& ranges = ranges_of(scheme.type);
  if (scheme.is_narrow && scheme.is_symmetric && scheme.type == ElementType::Int4)
    return scheme.is_reduced ? IntegerRange{-4, 4} : IntegerRange{-7, 7};
  if (scheme.is_reduced) return ranges.reduced;
  return scheme.is_symmetric ? ranges.symmetric : ranges.full;
}

QuantizedLevels quantized_levels(const QuantScheme& scheme) {
  const IntegerRange spread = spread_range(scheme);
  const IntegerRange full = full_range(scheme.type);
  return {.spread_min = spread.min,
          .spread_max = spread.max,
          .clamp_min = full.min,
          .clamp_max = full.max,
          .is_symmetric = scheme.is_symmetric || is_float8(scheme.type),
          .minimum_real_range = scheme.minimum_real_range,
          .is_restricted = scheme.is_restricted && scheme.type == ElementType::UInt8,
          .value_type = scheme.value_type};
}

QuantizedLevels activation_levels(const QuantizationConfig& config) {
  return quantized_levels(activation_scheme(config));
}

ScaleAndZero scale_and_zero(Range range, const QuantScheme& scheme) {
  const LinearGrid grid = linear_grid(range, quantized_levels(scheme));
  return {grid.scale, grid.zero_point};
}

ScaleAndZero float8_scale(double deviation, ElementType value_type) {
  const auto values = static_cast<float>(round_to(value_type, deviation));
  const auto scale =
      static_cast<float>(round_to(value_type, static_cast<double>(values / kFloat8Deviation)));
  return {std::isfinite(scale) && scale > 0 ? scale : 1.0F, 0};
}

ScaleAndZero block_scale_and_zero(Range range, const QuantScheme& scheme) {
  const QuantizedLevels levels = quantized_levels(
      {.type = scheme.type, .is_symmetric = scheme.is_symmetric, .is_narrow = scheme.is_narrow});
  const Range spread = quantized_range(range, levels);
  const float low = spread.min, high = spread.max;
  const double exact = static_cast<double>(high) - static_cast<double>(low);
  const double rounded = round_to(scheme.value_type, static_cast<double>(high - low));
  const double steps = static_cast<double>(levels.spread_max) - levels.spread_min;
  const double scale = round_to(scheme.value_type, (std::isinf(rounded) ? exact : rounded) / steps);
  const bool has_no_range = is_degenerate(scale, scheme.value_type);
  const float stored = has_no_range ? 1.0F : static_cast<float>(scale);
  if (levels.is_symmetric) return {stored, middle_zero_point(levels)};
  if (has_no_range) return {};
  const double zero =
      std::nearbyint(levels.spread_min - static_cast<double>(low) / static_cast<double>(stored));
  return {stored, static_cast<std::int32_t>(
                      std::clamp<double>(zero, levels.spread_min, levels.spread_max))};
}

std::int32_t quantize_value(float value, const ScaleAndZero& params, ElementType type) {
  const IntegerRange full = full_range(type);
  const float q = std::nearbyint(value / params.scale) + static_cast<float>(params.zero_point);
  return static_cast<std::int32_t>(
      std::clamp(q, static_cast<float>(full.min), static_cast<float>(full.max)));
}

}  // namespace qtool
