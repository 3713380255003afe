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

/// `bits` without the low `shift` of them, rounded half to even.
template <int shift, class V, class D = hn::DFromV<V>>
V round_off(V bits) {
  const D du;
  const auto is_odd = hn::And(hn::ShiftRight<shift>(bits), hn::Set(du, 1U));
  const auto half = hn::Add(hn::Set(du, (1U << (shift - 1)) - 1), is_odd);
  return hn::ShiftRight<shift>(hn::Add(bits, half));
}

/// Codes of float32 bits, in the low half of each lane. A subnormal number is brought to its last
/// bit by adding 0.5, whose last bit it is.
struct ToFloat16 {
  template <class V, class D = hn::DFromV<V>>
  static V codes(V magnitude) {
    const D du;
    const hn::RebindToFloat<D> d;
    const auto rebased = hn::Sub(magnitude, hn::Set(du, 112U << 23));
    const auto normal = hn::Min(round_off<13>(rebased), hn::Set(du, 0x7C00U));
    const auto raised = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5F));
    const auto subnormal = hn::Sub(hn::BitCast(du, raised), hn::Set(du, 0x3F000000U));
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000U)), subnormal, normal);
  }
  static constexpr std::uint32_t kNaN = 0x7E00U;
};
struct ToBFloat16 {
  template <class V>
  static V codes(V magnitude) {
    return round_off<16>(magnitude);
  }
  static constexpr std::uint32_t kNaN = 0x7FC0U;
};

template <class Format, class D>
void narrow_vector(D d, const float* values, std::uint16_t* out) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint16_t, D> d16;
  const auto bits = hn::BitCast(du, hn::LoadU(d, values));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFU));
  const auto sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(du, 0x80000000U)));
  const auto is_nan = hn::Gt(magnitude, hn::Set(du, 0x7F800000U));
  const auto codes = hn::IfThenElse(is_nan, hn::Set(du, Format::kNaN), Format::codes(magnitude));
  hn::StoreU(hn::TruncateTo(d16, hn::Or(sign, codes)), d16, out);
}

template <class Format>
void narrow(const float* values, std::size_t count, std::uint16_t* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) narrow_vector<Format>(d, values + i, out + i);
  if (i == count) return;
  HWY_ALIGN float from[hn::MaxLanes(d)] = {};
  HWY_ALIGN std::uint16_t to[hn::MaxLanes(d)];
  std::copy_n(values + i, count - i, from);
  narrow_vector<Format>(d, from, to);
  std::copy_n(to, count - i, out + i);
}

inline void narrow_to_float16(const float* values, std::size_t count, std::uint16_t* out) {
  narrow<ToFloat16>(values, count, out);
}
inline void narrow_to_bfloat16(const float* values, std::size_t count, std::uint16_t* out) {
  narrow<ToBFloat16>(values, count, out);
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
