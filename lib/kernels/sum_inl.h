// Compiled once for each target of Highway; included by sum.cpp alone.
#if defined(QTOOL_KERNELS_SUM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_SUM_INL_H
#undef QTOOL_KERNELS_SUM_INL_H
#else
#define QTOOL_KERNELS_SUM_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/sum.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline double sum(const float* values, std::size_t count) {
  constexpr std::size_t kParts = 16;
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double parts[kParts] = {};
  const std::size_t in_rows = count / kParts * kParts;
  for (std::size_t part = 0; part < kParts; part += 2 * lanes) {
    auto sum0 = hn::Zero(d), sum1 = sum0;
    for (std::size_t row = part; row < in_rows; row += kParts) {
      sum0 = hn::Add(sum0, hn::PromoteTo(d, hn::LoadU(df, values + row)));
      sum1 = hn::Add(sum1, hn::PromoteTo(d, hn::LoadU(df, values + row + lanes)));
    }
    hn::Store(sum0, d, parts + part);
    hn::Store(sum1, d, parts + part + lanes);
  }
  for (std::size_t i = in_rows; i < count; ++i) parts[i % kParts] += static_cast<double>(values[i]);
  for (std::size_t half = kParts / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) parts[k] += parts[k + half];
  }
  return parts[0];
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
