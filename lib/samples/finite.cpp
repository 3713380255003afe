#include "samples/finite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace qtool {
namespace {

/// Blocks of this size are tested without a branch inside, so that the test runs at the speed of
/// memory.
constexpr std::size_t kBlock = 1024;

/// Index of the first element whose exponent is that of NaN and infinity.
template <typename Bits>
std::optional<std::size_t> find_exponent(std::span<const std::byte> bytes, Bits exponent) {
  const auto is_hit = [&](std::size_t i) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
    return (bits & exponent) == exponent;
  };
  const std::size_t count = bytes.size() / sizeof(Bits);
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    Bits hits = 0;
    for (std::size_t i = begin; i < end; ++i) hits |= static_cast<Bits>(is_hit(i));
    if (hits == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_hit(i)) return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> find_nonfinite_code(const Tensor& tensor) {
  const std::vector<float> values = to_float32(tensor);
  const auto found =
      std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

/// The index of a complex number's part as that of the number.
std::optional<std::size_t> of_pairs(std::optional<std::size_t> index) {
  if (index) *index /= 2;
  return index;
}

}  // namespace

std::optional<std::size_t> find_nonfinite(const Tensor& tensor) {
  switch (tensor.type) {
    case ElementType::Float:
      return find_exponent<std::uint32_t>(tensor.bytes, 0x7f800000u);
    case ElementType::Double:
      return find_exponent<std::uint64_t>(tensor.bytes, 0x7ff0000000000000u);
    case ElementType::Float16:
      return find_exponent<std::uint16_t>(tensor.bytes, 0x7c00u);
    case ElementType::BFloat16:
      return find_exponent<std::uint16_t>(tensor.bytes, 0x7f80u);
    case ElementType::Complex64:
      return of_pairs(find_exponent<std::uint32_t>(tensor.bytes, 0x7f800000u));
    case ElementType::Complex128:
      return of_pairs(find_exponent<std::uint64_t>(tensor.bytes, 0x7ff0000000000000u));
    case ElementType::Float8E4M3FN:
    case ElementType::Float8E4M3FNUZ:
    case ElementType::Float8E5M2:
    case ElementType::Float8E5M2FNUZ:
    case ElementType::Float8E8M0:
      return find_nonfinite_code(tensor);
    default:
      return std::nullopt;
  }
}

}  // namespace qtool
