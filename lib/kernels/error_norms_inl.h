// Compiled once for each target of Highway; included by error_norms.cpp alone.
#if defined(QTOOL_KERNELS_ERROR_NORMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_ERROR_NORMS_INL_H
#undef QTOOL_KERNELS_ERROR_NORMS_INL_H
#else
#define QTOOL_KERNELS_ERROR_NORMS_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <hwy/highway.h>

#include "kernels/error_norms.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The eight partial sums of each norm.
struct Partial {
  HWY_ALIGN double dot[8] = {};
  HWY_ALIGN double reference_squares[8] = {};
  HWY_ALIGN double other_squares[8] = {};
  HWY_ALIGN double error_squares[8] = {};
  HWY_ALIGN double error_sum[8] = {};
  HWY_ALIGN double max_error[8] = {};
};

template <class D>
hn::Vec<D> load_double(D d, const double* from) {
  return hn::LoadU(d, from);
}
template <class D>
hn::Vec<D> load_double(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

/// Partial sums `lane` and following, as many as a vector holds, over `count` elements, a multiple
/// of eight. Products are rounded before they are added: fused operations do not exist on every
/// target.
template <typename T, class D>
void add_lanes(D d, const T* a, const T* b, std::size_t count, std::size_t lane, Partial& sums) {
  auto dot = hn::Zero(d), aa = dot, bb = dot, ee = dot, e = dot, most = dot;
  for (std::size_t i = lane; i < count; i += 8) {
    const auto va = load_double(d, a + i);
    const auto vb = load_double(d, b + i);
    const auto error = hn::Abs(hn::Sub(va, vb));
    dot = hn::Add(dot, hn::Mul(va, vb));
    aa = hn::Add(aa, hn::Mul(va, va));
    bb = hn::Add(bb, hn::Mul(vb, vb));
    ee = hn::Add(ee, hn::Mul(error, error));
    e = hn::Add(e, error);
    most = hn::IfThenElse(hn::Gt(error, most), error, most);
  }
  hn::Store(dot, d, sums.dot + lane);
  hn::Store(aa, d, sums.reference_squares + lane);
  hn::Store(bb, d, sums.other_squares + lane);
  hn::Store(ee, d, sums.error_squares + lane);
  hn::Store(e, d, sums.error_sum + lane);
  hn::Store(most, d, sums.max_error + lane);
}

template <typename T>
void add_scalar(T reference, T other, std::size_t lane, Partial& sums) {
  const double a = reference;
  const double b = other;
  const double error = std::abs(a - b);
  sums.dot[lane] += a * b;
  sums.reference_squares[lane] += a * a;
  sums.other_squares[lane] += b * b;
  sums.error_squares[lane] += error * error;
  sums.error_sum[lane] += error;
  if (error > sums.max_error[lane]) sums.max_error[lane] = error;
}

inline double total(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

template <typename T>
ErrorNorms error_norms(const T* a, const T* b, std::size_t count) {
  const hn::CappedTag<double, 8> d;
  const std::size_t whole = count / 8 * 8;
  Partial sums;
  for (std::size_t lane = 0; lane < 8; lane += hn::Lanes(d)) add_lanes(d, a, b, whole, lane, sums);
  for (std::size_t i = whole; i < count; ++i) add_scalar(a[i], b[i], i % 8, sums);
  return {total(sums.dot),           total(sums.reference_squares),
          total(sums.other_squares), total(sums.error_squares),
          total(sums.error_sum),     *std::max_element(sums.max_error, sums.max_error + 8)};
}

inline ErrorNorms error_norms_f32(const float* a, const float* b, std::size_t count) {
  return error_norms(a, b, count);
}
inline ErrorNorms error_norms_f64(const double* a, const double* b, std::size_t count) {
  return error_norms(a, b, count);
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
