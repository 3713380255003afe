#include "preprocess/float_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qtool {
namespace {

std::uint16_t float16_bits(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double size = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00U);
  int exponent = 0;
  std::frexp(size, &exponent);
  // Eleven bits of precision, fewer where the number is subnormal.
  const int last_bit = std::max(exponent - 11, -24);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -last_bit)));
  // A carry out of the mantissa raises the exponent by itself.
  const std::uint32_t raised = static_cast<std::uint32_t>(last_bit + 24) << 10U;
  return static_cast<std::uint16_t>(sign | (units < 1024 ? units : units + raised));
}

template <typename To, typename Convert>
std::vector<std::byte> encode(std::span<const double> values, const Convert& convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(To));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const To converted = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return bytes;
}

}  // namespace

bool is_encodable(ElementType type) {
  return type == ElementType::Float || type == ElementType::Double || type == ElementType::Float16;
}

std::vector<std::byte> encode_floats(ElementType type, std::span<const double> values) {
  switch (type) {
    case ElementType::Float:
      return encode<float>(values, [](double value) { return static_cast<float>(value); });
    case ElementType::Double:
      return encode<double>(values, [](double value) { return value; });
    case ElementType::Float16:
      return encode<std::uint16_t>(values, float16_bits);
    default:
      return {};
  }
}

}  // namespace qtool
