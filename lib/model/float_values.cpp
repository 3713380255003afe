#include "model/float_values.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/float16.h"

namespace qtool {
namespace {

constexpr int kDoubleBias = 1023;
constexpr int kDoubleMantissa = 52;

std::uint16_t float16_bits(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  const double size = kernels::round_to_float16(std::fabs(value));
  if (std::isinf(size)) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (size < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(size * 0x1p24));
  constexpr std::uint64_t kBiasDifference = static_cast<std::uint64_t>(kDoubleBias - 15) << 10U;
  const std::uint64_t rebased =
      (std::bit_cast<std::uint64_t>(size) >> (kDoubleMantissa - 10)) - kBiasDifference;
  return static_cast<std::uint16_t>(sign | rebased);
}

template <typename To, typename From, typename Convert>
std::vector<std::byte> encode(std::span<const From> values, const Convert& convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(To));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const To converted = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return bytes;
}

template <typename From>
std::vector<std::byte> encode_as(ElementType type, std::span<const From> values) {
  switch (type) {
    case ElementType::Float:
      return encode<float>(values, [](From value) { return static_cast<float>(value); });
    case ElementType::Double:
      return encode<double>(values, [](From value) { return static_cast<double>(value); });
    case ElementType::Float16:
      return encode<std::uint16_t>(
          values, [](From value) { return float16_bits(static_cast<double>(value)); });
    default:
      return {};
  }
}

}  // namespace

bool is_encodable(ElementType type) {
  return type == ElementType::Float || type == ElementType::Double || type == ElementType::Float16;
}

double round_to(ElementType type, double value) {
  if (type == ElementType::Float16) return kernels::round_to_float16(value);
  return type == ElementType::Float ? static_cast<double>(static_cast<float>(value)) : value;
}

std::vector<std::byte> encode_floats(ElementType type, std::span<const double> values) {
  return encode_as(type, values);
}
std::vector<std::byte> encode_floats(ElementType type, std::span<const float> values) {
  return encode_as(type, values);
}

}  // namespace qtool
