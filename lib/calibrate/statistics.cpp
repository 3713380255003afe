#include "calibrate/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/min_max.h"
#include "kernels/sum.h"

namespace qtool {
namespace {

/// `is_better(a, b)`: whether the value a takes the place of b.
template <typename IsBetter>
void improve(Extreme& extreme, const Extreme& other, const IsBetter& is_better) {
  const bool is_earlier = other.value == extreme.value && other.sample < extreme.sample;
  if (is_better(other.value, extreme.value) || is_earlier) extreme = other;
}

void widen(TensorStatistics& statistics, std::uint64_t count, const Extreme& min,
           const Extreme& max) {
  if (count == 0) return;
  if (statistics.value_count == 0) {
    statistics.min = min;
    statistics.max = max;
  } else {
    improve(statistics.min, min, std::less{});
    improve(statistics.max, max, std::greater{});
  }
  statistics.value_count += count;
}

std::vector<float> finite_values(std::span<const float> values) {
  std::vector<float> out;
  std::ranges::copy_if(values, std::back_inserter(out),
                       [](float value) { return std::isfinite(value); });
  return out;
}

}  // namespace

void TensorStatistics::observe(std::span<const float> values, std::uint64_t sample,
                               StatisticsKind kind, bool keeps_sample_extremes) {
  const auto seen = kernels::min_max(values);
  nonfinite_count += seen.nonfinite_count;
  if (seen.finite_count == 0) return;
  widen(*this, seen.finite_count, {seen.min, sample}, {seen.max, sample});
  if (keeps_sample_extremes) keep(SampleExtremes{sample, seen.min, seen.max});
  add_to_sample(seen.min, seen.max, sample);
  if (kind == StatisticsKind::Extremes) return;
  const float largest = std::max(std::abs(seen.min), std::abs(seen.max));
  if (seen.nonfinite_count == 0)
    count(values, largest, kind);
  else
    count(finite_values(values), largest, kind);
}

/// Sums are over each sample's own extremes: where more values of the last sample widen them, the
/// new ones take the place of the old, which exact sums allow.
void TensorStatistics::add_to_sample(float least, float greatest, std::uint64_t sample) {
  const auto replace = [](ExactSum& total, float& old, float value) {
    if (value == old) return;
    total.add(-static_cast<double>(std::exchange(old, value)));
    total.add(static_cast<double>(value));
  };
  if (latest_.is_there && latest_.sample == sample) {
    replace(sum_of_minima, latest_.min, std::min(least, latest_.min));
    replace(sum_of_maxima, latest_.max, std::max(greatest, latest_.max));
    return;
  }
  ++sample_count;
  sum_of_minima.add(static_cast<double>(least));
  sum_of_maxima.add(static_cast<double>(greatest));
  latest_ = {true, sample, least, greatest};
}

/// A body that runs several times shows its values as often.
void TensorStatistics::keep(const SampleExtremes& extremes) {
  if (sample_extremes.empty() || sample_extremes.back().sample != extremes.sample) {
    sample_extremes.push_back(extremes);
    return;
  }
  SampleExtremes& last = sample_extremes.back();
  last.min = std::min(last.min, extremes.min);
  last.max = std::max(last.max, extremes.max);
}

void TensorStatistics::count(std::span<const float> values, float largest, StatisticsKind kind) {
  zero_count += sketch.add(values, largest);
  if (kind == StatisticsKind::All) sum.add(kernels::sum(values));
}

void TensorStatistics::add_spread(float low, float high, std::uint64_t count) {
  widen(*this, count, {low, 0}, {high, 0});
  if (low == 0 && high == 0) zero_count += count;
  sketch.add_spread(low, high, count);
}

void TensorStatistics::merge(const TensorStatistics& other) {
  widen(*this, other.value_count, other.min, other.max);
  nonfinite_count += other.nonfinite_count;
  sample_count += other.sample_count;
  sum_of_minima.add(other.sum_of_minima);
  sum_of_maxima.add(other.sum_of_maxima);
  zero_count += other.zero_count;
  sum.add(other.sum);
  sketch.merge(other.sketch);
  if (other.sample_extremes.empty()) return;
  sample_extremes.insert(sample_extremes.end(), other.sample_extremes.begin(),
                         other.sample_extremes.end());
  // The largest samples run first.
  std::ranges::sort(sample_extremes, {}, &SampleExtremes::sample);
}

Density TensorStatistics::density() const {
  return density_of(sketch.top(), sketch.entries(), zero_count, min.value, max.value);
}

}  // namespace qtool
