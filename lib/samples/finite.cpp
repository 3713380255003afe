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

/// Index of the first element whose exponent bits are all set, as in NaN and infinity. Adding the
/// lowest of them then carries into the sign bit, which a whole block can collect.
template <typename Bits>
std::optional<std::size_t> find_exponent(std::span<const std::byte> bytes, Bits exponent) {
  constexpr int kSignShift = 8 * sizeof(Bits) - 1;
  const auto lowest = static_cast<Bits>(exponent & -exponent);
  const auto carry = [&](std::size_t i) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
    return static_cast<Bits>((bits & exponent) + lowest);
  };
  const std::size_t count = bytes.size() / sizeof(Bits);
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    Bits carries = 0;
    for (std::size_t i = begin; i < end; ++i) carries |= carry(i);
    if (carries >> kSignShift == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (carry(i) >> kSignShift != 0) return i;
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
