// Compiled once for each target of Highway; included by quantize_float8.cpp alone.
#if defined(QTOOL_KERNELS_QUANTIZE_FLOAT8_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_QUANTIZE_FLOAT8_INL_H
#undef QTOOL_KERNELS_QUANTIZE_FLOAT8_INL_H
#else
#define QTOOL_KERNELS_QUANTIZE_FLOAT8_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "kernels/quantize_float8.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The bits of finite floats with all below bit `kShift` rounded away, half to even, and shifted
/// out. A carry out of the mantissa raises the exponent by itself.
template <int kShift, class DU, class VU>
VU round_off(DU du, VU bits) {
  const auto is_odd = hn::And(hn::ShiftRight<kShift>(bits), hn::Set(du, 1U));
  const auto bias = hn::Add(is_odd, hn::Set(du, (1U << (kShift - 1)) - 1));
  return hn::ShiftRight<kShift>(hn::Add(bits, bias));
}

/// Magnitudes up to 448, rounded to float16.
template <class D, class V>
V round_to_float16(D d, V size) {
  const hn::RebindToUnsigned<D> du;
  const auto normal = hn::BitCast(d, hn::ShiftLeft<13>(round_off<13>(du, hn::BitCast(du, size))));
  // One half has float16's last bit, 2^-24, as its own.
  const auto half = hn::Set(d, 0.5F);
  const auto subnormal = hn::Sub(hn::Add(size, half), half);
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0x1p-14F)), subnormal, normal);
}

/// Magnitudes up to 448, as codes.
template <class D, class V>
auto float8_codes(D d, V size) {
  const hn::RebindToUnsigned<D> du;
  constexpr std::uint32_t kBiasDifference = (127U - 7U) << 3U;
  const auto normal =
      hn::Sub(round_off<20>(du, hn::BitCast(du, size)), hn::Set(du, kBiasDifference));
  // 2^14 has the last bit of subnormal float8, 2^-9, as its own.
  const auto large = hn::Set(d, 0x1p14F);
  const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(size, large)), hn::BitCast(du, large));
  const auto is_small = hn::RebindMask(du, hn::Lt(size, hn::Set(d, 0x1p-6F)));
  return hn::IfThenElse(is_small, subnormal, normal);
}

template <class D>
void float8_vector(D d, const float* values, float scale, Quotient quotient, std::uint8_t* out) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint8_t, D> d8;
  const auto steps = hn::Div(hn::LoadU(d, values), hn::Set(d, scale));
  const auto number = hn::IfThenElseZero(hn::Eq(steps, steps), steps);
  const auto clipped = hn::Min(hn::Abs(number), hn::Set(d, 448.0F));
  const auto size = quotient == Quotient::Float16 ? round_to_float16(d, clipped) : clipped;
  const auto sign = hn::And(hn::ShiftRight<24>(hn::BitCast(du, number)), hn::Set(du, 0x80U));
  const auto code = hn::Or(float8_codes(d, size), sign);
  hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, code)), d8, out);
}

inline void quantize_float8(const float* values, std::size_t count, float scale, Quotient quotient,
                            std::uint8_t* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) float8_vector(d, values + i, scale, quotient, out + i);
  if (i == count) return;
  HWY_ALIGN float from[hn::MaxLanes(d)] = {};
  HWY_ALIGN std::uint8_t to[hn::MaxLanes(d)];
  std::copy_n(values + i, count - i, from);
  float8_vector(d, from, scale, quotient, to);
  std::copy_n(to, count - i, out + i);
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
