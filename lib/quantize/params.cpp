#include "quantize/params.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

ScaleAndZero scale_and_zero(Range range, const QuantScheme& scheme) {
  const IntegerRange q = spread_range(scheme);
  // Zero must have an exact integer: padding and Relu rely on it.
  float low = std::min(range.min, 0.0F);
  float high = std::max(range.max, 0.0F);
  if (scheme.minimum_real_range)
    high = std::max(high, low + static_cast<float>(*scheme.minimum_real_range));
  if (scheme.is_symmetric) {
    high = std::max(-low, high);
    low = -high;
  }
  const double scale =
      (static_cast<double>(high) - static_cast<double>(low)) / (static_cast<double>(q.max) - q.min);
  if (scale < static_cast<double>(std::numeric_limits<float>::min())) return {1.0F, 0};
  // std::nearbyint rounds half to even in the default rounding mode, which qtool never changes.
  const double zero =
      scheme.is_symmetric ? (q.min + q.max) / 2.0 : q.min - static_cast<double>(low) / scale;
  return {static_cast<float>(scale), static_cast<std::int32_t>(std::nearbyint(zero))};
}

std::int32_t quantize_value(float value, const ScaleAndZero& params, ElementType type) {
  const IntegerRange full = full_range(type);
  const float q = std::nearbyint(value / params.scale) + static_cast<float>(params.zero_point);
  return static_cast<std::int32_t>(
      std::clamp(q, static_cast<float>(full.min), static_cast<float>(full.max)));
}

}  // namespace qtool
