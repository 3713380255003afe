#include "samples/cast.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace qtool {
namespace {

/// The values a type has, as far as it matters whether another type has them too.
struct Precision {
  bool is_float;
  bool is_signed;
  int digits;  ///< binary digits that are always exact
};

/// Nothing for types without numbers that could be those of another type.
std::optional<Precision> precision(ElementType type) {
  switch (type) {
    case ElementType::Bool:
      return Precision{false, false, 1};
    case ElementType::UInt4:
      return Precision{false, false, 4};
    case ElementType::UInt8:
      return Precision{false, false, 8};
    case ElementType::UInt16:
      return Precision{false, false, 16};
    case ElementType::UInt32:
      return Precision{false, false, 32};
    case ElementType::UInt64:
      return Precision{false, false, 64};
    case ElementType::Int4:
      return Precision{false, true, 3};
    case ElementType::Int8:
      return Precision{false, true, 7};
    case ElementType::Int16:
      return Precision{false, true, 15};
    case ElementType::Int32:
      return Precision{false, true, 31};
    case ElementType::Int64:
      return Precision{false, true, 63};
    case ElementType::Float4E2M1:
      return Precision{true, true, 2};
    case ElementType::Float8E5M2:
    case ElementType::Float8E5M2FNUZ:
      return Precision{true, true, 3};
    case ElementType::Float8E4M3FN:
    case ElementType::Float8E4M3FNUZ:
      return Precision{true, true, 4};
    case ElementType::BFloat16:
      return Precision{true, true, 8};
    case ElementType::Float16:
      return Precision{true, true, 11};
    case ElementType::Float:
      return Precision{true, true, 24};
    case ElementType::Double:
      return Precision{true, true, 53};
    default:
      return std::nullopt;
  }
}

/// Types of at least 8 bits other than bool and float8: those that `store` writes.
bool is_cast_target(ElementType type) {
  const auto target = precision(type);
  return target && (target->is_float ? target->digits >= 8 : target->digits >= 7);
}

/// A float16 for a value that is one.
std::uint16_t exact_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t mantissa = bits & 0x7fffffu;
  const int exponent = static_cast<int>(bits >> 23 & 255u) - 127;
  std::uint32_t rest = 0;
  if (exponent == 128) {
    rest = 0x7c00u | mantissa >> 13;
  } else if (exponent >= -14) {
    rest = static_cast<std::uint32_t>(exponent + 15) << 10 | mantissa >> 13;
  } else if (exponent >= -24) {
    rest = (mantissa | 0x800000u) >> (-1 - exponent);
  }
  return static_cast<std::uint16_t>(sign | rest);
}

std::uint16_t exact_bfloat16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

template <typename Stored, typename Convert>
std::vector<std::byte> store_as(std::span<const double> values, const Convert& convert) {
  std::vector<std::byte> out(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored stored = convert(values[i]);
    std::memcpy(out.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
  return out;
}

template <typename Stored>
std::vector<std::byte> store_as(std::span<const double> values) {
  return store_as<Stored>(values, [](double value) { return static_cast<Stored>(value); });
}

std::vector<std::byte> store(std::span<const double> values, ElementType type) {
  switch (type) {
    case ElementType::UInt8:
      return store_as<std::uint8_t>(values);
    case ElementType::Int8:
      return store_as<std::int8_t>(values);
    case ElementType::UInt16:
      return store_as<std::uint16_t>(values);
    case ElementType::Int16:
      return store_as<std::int16_t>(values);
    case ElementType::UInt32:
      return store_as<std::uint32_t>(values);
    case ElementType::Int32:
      return store_as<std::int32_t>(values);
    case ElementType::UInt64:
      return store_as<std::uint64_t>(values);
    case ElementType::Int64:
      return store_as<std::int64_t>(values);
    case ElementType::Double:
      return store_as<double>(values);
    case ElementType::BFloat16:
      return store_as<std::uint16_t>(
          values, [](double value) { return exact_bfloat16(static_cast<float>(value)); });
    case ElementType::Float16:
      return store_as<std::uint16_t>(
          values, [](double value) { return exact_float16(static_cast<float>(value)); });
    default:
      return store_as<float>(values);
  }
}

}  // namespace

bool is_lossless(ElementType from, ElementType to) {
  if (from == to) return true;
  const auto source = precision(from), target = precision(to);
  if (!source || !is_cast_target(to) || source->digits > target->digits) return false;
  if (target->is_float) {
    // Neither of the 16-bit formats has all values of the other.
    return !source->is_float || source->digits < 8 || target->digits >= 24;
  }
  return !source->is_float && (!source->is_signed || target->is_signed);
}

bool is_accepted(ElementType from, ElementType to) {
  return is_lossless(from, to) || (from == ElementType::Double && to == ElementType::Float);
}

Tensor cast(const Tensor& tensor, ElementType to) {
  // Every type that has a wider one is exact in float64.
  return {to, tensor.shape, store(to_float64(tensor), to)};
}

}  // namespace qtool
