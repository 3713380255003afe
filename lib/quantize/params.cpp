#include "quantize/params.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace qtool {

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

QuantScheme activation_scheme(const QuantizationConfig& config) {
  return {.type = element_type(config.activation_type),
          .is_symmetric = config.extra_options.activation_symmetric.value_or(false),
          .is_reduced = false,
          .minimum_real_range = config.extra_options.minimum_real_range};
}

IntegerRange full_range(ElementType type) {
  switch (type) {
    case ElementType::Int8:
      return {-128, 127};
    case ElementType::UInt8:
      return {0, 255};
    case ElementType::Int16:
      return {-32768, 32767};
    case ElementType::UInt16:
      return {0, 65535};
    default:
      throw Error(ErrorKind::Internal, "no integer range for type " + element_type_name(type));
  }
}

IntegerRange spread_range(const QuantScheme& scheme) {
  const IntegerRange full = full_range(scheme.type);
  const bool is_signed = full.min < 0;
  // ONNX Runtime's 7-bit ranges: signed ones are [-64, 64], so that zero stays in the middle.
  if (scheme.is_reduced)
    return is_signed ? IntegerRange{full.min / 2, -(full.min / 2)} : IntegerRange{0, full.max / 2};
  if (scheme.is_symmetric && is_signed) return {full.min + 1, full.max};
  return full;
}

QuantizedLevels quantized_levels(const QuantScheme& scheme) {
  const IntegerRange spread = spread_range(scheme);
  const IntegerRange full = full_range(scheme.type);
  return {.spread_min = spread.min,
          .spread_max = spread.max,
          .clamp_min = full.min,
          .clamp_max = full.max,
          .is_symmetric = scheme.is_symmetric,
          .minimum_real_range = scheme.minimum_real_range};
}

QuantizedLevels activation_levels(const QuantizationConfig& config) {
  return quantized_levels(activation_scheme(config));
}

ScaleAndZero scale_and_zero(Range range, const QuantScheme& scheme) {
  const LinearGrid grid = linear_grid(range, quantized_levels(scheme));
  return {grid.scale, grid.zero_point};
}

std::int32_t quantize_value(float value, const ScaleAndZero& params, ElementType type) {
  const IntegerRange full = full_range(type);
  const float q = std::nearbyint(value / params.scale) + static_cast<float>(params.zero_point);
  return static_cast<std::int32_t>(
      std::clamp(q, static_cast<float>(full.min), static_cast<float>(full.max)));
}

}  // namespace qtool
