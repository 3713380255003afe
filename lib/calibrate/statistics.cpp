#include "calibrate/statistics.h"

#include <algorithm>

#include "kernels/min_max.h"

namespace qtool {

namespace {

void widen(TensorStatistics& statistics, std::uint64_t count, float min, float max) {
  if (count == 0) return;
  const bool is_first = statistics.value_count == 0;
  statistics.min = is_first ? min : std::min(statistics.min, min);
  statistics.max = is_first ? max : std::max(statistics.max, max);
  statistics.value_count += count;
}

}  // namespace

void TensorStatistics::observe(std::span<const float> values) {
  const auto seen = kernels::min_max(values);
  widen(*this, seen.finite_count, seen.min, seen.max);
  nonfinite_count += seen.nonfinite_count;
  if (seen.finite_count == 0) return;
  ++sample_count;
  sum_of_minima.add(seen.min);
  sum_of_maxima.add(seen.max);
}

void TensorStatistics::merge(const TensorStatistics& other) {
  widen(*this, other.value_count, other.min, other.max);
  nonfinite_count += other.nonfinite_count;
  sample_count += other.sample_count;
  sum_of_minima.add(other.sum_of_minima);
  sum_of_maxima.add(other.sum_of_maxima);
}

}  // namespace qtool
