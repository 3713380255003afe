// Compiled once for each target of Highway; included by float16.cpp alone.
#if defined(QTOOL_KERNELS_FLOAT16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_FLOAT16_INL_H
#undef QTOOL_KERNELS_FLOAT16_INL_H
#else
#define QTOOL_KERNELS_FLOAT16_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Moved to float32's places, the exponent of a code is too small by 112, which a product with
/// 2^112 mends, subnormal numbers included. What had the highest exponent gets float32's highest
/// one.
template <class D>
void widen_vector(D d, const std::uint16_t* codes, float* out) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint16_t, D> d16;
  const auto code = hn::PromoteTo(du, hn::LoadU(d16, codes));
  const auto sign = hn::ShiftLeft<16>(hn::And(code, hn::Set(du, 0x8000U)));
  const auto magnitude = hn::And(code, hn::Set(du, 0x7FFFU));
  const auto placed = hn::ShiftLeft<13>(magnitude);
  const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(d, placed), hn::Set(d, 0x1p112F)));
  const auto nonfinite = hn::Or(placed, hn::Set(du, 0x7F800000U));
  const auto is_finite = hn::Lt(magnitude, hn::Set(du, 0x7C00U));
  const auto bits = hn::Or(sign, hn::IfThenElse(is_finite, finite, nonfinite));
  hn::StoreU(hn::BitCast(d, bits), d, out);
}

inline void widen_float16(const std::uint16_t* codes, std::size_t count, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) widen_vector(d, codes + i, out + i);
  if (i == count) return;
  HWY_ALIGN std::uint16_t from[hn::MaxLanes(d)] = {};
  HWY_ALIGN float to[hn::MaxLanes(d)];
  std::copy_n(codes + i, count - i, from);
  widen_vector(d, from, to);
  std::copy_n(to, count - i, out + i);
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
