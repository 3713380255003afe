#include "kernels/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#define HWY_TARGET_INCLUDE "kernels/float16_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/float16_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(widen_float16);
HWY_EXPORT(narrow_to_float16);
HWY_EXPORT(narrow_to_bfloat16);

}  // namespace

void narrow_to_float16(std::span<const float> values, std::span<std::uint16_t> out) {
  HWY_DYNAMIC_DISPATCH(narrow_to_float16)(values.data(), values.size(), out.data());
}

void narrow_to_bfloat16(std::span<const float> values, std::span<std::uint16_t> out) {
  HWY_DYNAMIC_DISPATCH(narrow_to_bfloat16)(values.data(), values.size(), out.data());
}

void widen_float16(std::span<const std::uint16_t> codes, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(widen_float16)(codes.data(), codes.size(), out.data());
}

double round_to_float16(double value) {
  constexpr int kBias = 1023;
  constexpr int kMantissa = 52;
  const double size = std::fabs(value);
  if (std::isnan(value)) return value;
  if (size >= 65520.0) return std::copysign(std::numeric_limits<double>::infinity(), value);
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> kMantissa) - kBias;
  // Eleven bits of precision, fewer where the number is subnormal.
  const int last_bit = std::max(exponent - 10, -24);
  // The last bit of a number of this size is float16's last bit: adding it rounds half to even.
  const auto magic =
      std::bit_cast<double>(static_cast<std::uint64_t>(last_bit + kMantissa + kBias) << kMantissa);
  return std::copysign(size + magic - magic, value);
}

}  // namespace qtool::kernels
#endif
