// Compiled once for each target of Highway; included by quantize_linear.cpp alone.
#if defined(QTOOL_KERNELS_QUANTIZE_LINEAR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_QUANTIZE_LINEAR_INL_H
#undef QTOOL_KERNELS_QUANTIZE_LINEAR_INL_H
#else
#define QTOOL_KERNELS_QUANTIZE_LINEAR_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "kernels/row_params.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector of integers. The ends are moved by the zero point before rounding: both are whole
/// numbers, so clamping first gives the same and keeps every value where conversion to int32 is
/// exact.
template <class D, class V, class I>
I quantize(D d, V value, V scale, I zero_point, std::int32_t qmin, std::int32_t qmax) {
  const hn::RebindToSigned<D> di;
  const auto low = hn::ConvertTo(d, hn::Sub(hn::Set(di, qmin), zero_point));
  const auto high = hn::ConvertTo(d, hn::Sub(hn::Set(di, qmax), zero_point));
  const auto steps = hn::Div(value, scale);
  const auto number = hn::IfThenElseZero(hn::Eq(steps, steps), steps);
  return hn::Add(hn::NearestInt(hn::Clamp(number, low, high)), zero_point);
}

template <class D, typename Integer>
void quantize_vector(D d, const float* values, const RowParams& params, std::size_t index,
                     Integer* out) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Integer, D> dq;
  const std::size_t at = index * params.stride;
  const auto scale =
      params.stride == 0 ? hn::Set(d, *params.scales) : hn::LoadU(d, params.scales + at);
  const auto zero_point = params.stride == 0 ? hn::Set(di, *params.zero_points)
                                             : hn::LoadU(di, params.zero_points + at);
  const auto whole = quantize(d, hn::LoadU(d, values), scale, zero_point, params.qmin, params.qmax);
  hn::StoreU(hn::DemoteTo(dq, whole), dq, out);
}

template <typename Integer>
void quantize_row(const float* values, std::size_t count, RowParams params, Integer* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) quantize_vector(d, values + i, params, i, out + i);
  if (i == count) return;
  HWY_ALIGN float from[hn::MaxLanes(d)] = {};
  HWY_ALIGN Integer to[hn::MaxLanes(d)];
  std::copy_n(values + i, count - i, from);
  quantize_vector(d, from, params, i, to);
  std::copy_n(to, count - i, out + i);
}

inline void quantize_row_i8(const float* values, std::size_t count, RowParams params,
                            std::int8_t* out) {
  quantize_row(values, count, params, out);
}
inline void quantize_row_u8(const float* values, std::size_t count, RowParams params,
                            std::uint8_t* out) {
  quantize_row(values, count, params, out);
}
inline void quantize_row_i16(const float* values, std::size_t count, RowParams params,
                             std::int16_t* out) {
  quantize_row(values, count, params, out);
}
inline void quantize_row_u16(const float* values, std::size_t count, RowParams params,
                             std::uint16_t* out) {
  quantize_row(values, count, params, out);
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
