// Compiled once for each target of Highway; included by min_max.cpp alone.
#if defined(QTOOL_KERNELS_MIN_MAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_MIN_MAX_INL_H
#undef QTOOL_KERNELS_MIN_MAX_INL_H
#else
#define QTOOL_KERNELS_MIN_MAX_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <hwy/highway.h>

#include "kernels/min_max.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Running extremes, outside of vectors.
struct Extremes {
  float min = kInfinity;
  float max = -kInfinity;
  std::size_t finite = 0;
};

/// The definition, for what does not fill a vector; `stride` is the distance from value to value.
inline void add_scalars(const float* values, std::size_t count, std::size_t stride, Extremes& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[i * stride];
    if (!std::isfinite(value)) continue;
    out.min = std::min(out.min, value);
    out.max = std::max(out.max, value);
    ++out.finite;
  }
}

/// Takes `count` values (whole vectors) into `low` and `high` where all are finite; false
/// otherwise, with both unchanged.
template <class D, class V>
bool add_finite_block(D d, const float* values, std::size_t count, V& low, V& high) {
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  auto low0 = low, low1 = low, low2 = low, low3 = low;
  auto high0 = high, high1 = high, high2 = high, high3 = high;
  auto probe0 = zero, probe1 = zero, probe2 = zero, probe3 = zero;
  // Zero times anything finite is zero; NaN and infinities turn the sum into NaN for good.
  const auto step = [&](const float* at, V& l, V& h, V& probe) HWY_ATTR {
    const auto value = hn::LoadU(d, at);
    l = hn::Min(l, value);
    h = hn::Max(h, value);
    probe = hn::MulAdd(value, zero, probe);
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    step(values + i, low0, high0, probe0);
    step(values + i + lanes, low1, high1, probe1);
    step(values + i + 2 * lanes, low2, high2, probe2);
    step(values + i + 3 * lanes, low3, high3, probe3);
  }
  for (; i < count; i += lanes) step(values + i, low0, high0, probe0);
  const auto probe = hn::Add(hn::Add(probe0, probe1), hn::Add(probe2, probe3));
  if (!hn::AllTrue(d, hn::Eq(probe, zero))) return false;
  low = hn::Min(hn::Min(low0, low1), hn::Min(low2, low3));
  high = hn::Max(hn::Max(high0, high1), hn::Max(high2, high3));
  return true;
}

/// Takes the finite ones among `count` values (whole vectors); returns how many.
template <class D, class V>
std::size_t add_mixed_block(D d, const float* values, std::size_t count, V& low, V& high) {
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i);
    const auto is_finite = hn::IsFinite(value);
    low = hn::Min(low, hn::IfThenElse(is_finite, value, low));
    high = hn::Max(high, hn::IfThenElse(is_finite, value, high));
    finite += hn::CountTrue(d, is_finite);
  }
  return finite;
}

inline MinMax result(const Extremes& extremes, std::size_t count) {
  if (extremes.finite == 0) return {.nonfinite_count = count};
  // Which of two zeros comes out of a vector minimum depends on the target; adding +0 makes both
  // +0.
  return {extremes.min + 0.0F, extremes.max + 0.0F, extremes.finite, count - extremes.finite};
}

inline MinMax min_max(const float* values, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t block = 64 * hn::Lanes(d);
  const std::size_t in_vectors = count / hn::Lanes(d) * hn::Lanes(d);
  Extremes extremes;
  auto low = hn::Set(d, kInfinity);
  auto high = hn::Neg(low);
  for (std::size_t i = 0; i < in_vectors; i += block) {
    const std::size_t size = std::min(block, in_vectors - i);
    const bool all_finite = add_finite_block(d, values + i, size, low, high);
    extremes.finite += all_finite ? size : add_mixed_block(d, values + i, size, low, high);
  }
  extremes.min = hn::GetLane(hn::MinOfLanes(d, low));
  extremes.max = hn::GetLane(hn::MaxOfLanes(d, high));
  add_scalars(values + in_vectors, count - in_vectors, 1, extremes);
  return result(extremes, count);
}

/// Columns of a row-major matrix, as many as a vector has lanes; false where a value is not finite.
template <class D>
bool min_max_columns(D d, const float* values, std::size_t rows, std::size_t row_size,
                     MinMax* out) {
  const auto zero = hn::Zero(d);
  auto low = hn::LoadU(d, values), high = low, probe = zero;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto value = hn::LoadU(d, values + row * row_size);
    low = hn::Min(low, value);
    high = hn::Max(high, value);
    probe = hn::MulAdd(value, zero, probe);
  }
  if (!hn::AllTrue(d, hn::Eq(probe, zero))) return false;
  HWY_ALIGN float lows[hn::MaxLanes(d)];
  HWY_ALIGN float highs[hn::MaxLanes(d)];
  hn::Store(low, d, lows);
  hn::Store(high, d, highs);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    out[i] = {lows[i] + 0.0F, highs[i] + 0.0F, rows, 0};
  return true;
}

inline void min_max_per_column(const float* values, std::size_t rows, std::size_t columns,
                               MinMax* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  const auto one_by_one = [&](std::size_t end) {
    for (; column < end; ++column) {
      Extremes extremes;
      add_scalars(values + column, rows, columns, extremes);
      out[column] = result(extremes, rows);
    }
  };
  while (rows > 0 && column + lanes <= columns) {
    if (min_max_columns(d, values + column, rows, columns, out + column))
      column += lanes;
    else
      one_by_one(column + lanes);
  }
  one_by_one(columns);
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
