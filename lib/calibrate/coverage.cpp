#include "calibrate/coverage.h"

#include <algorithm>
#include <cmath>

#include "calibrate/cumulative_count.h"

namespace qtool {
namespace {

/// Where an extreme lies outside, one value at least does, however little of its bucket.
std::uint64_t whole_count(double count) {
  return static_cast<std::uint64_t>(std::max(1.0, std::nearbyint(count)));
}

std::uint64_t clipped_count(const TensorStatistics& statistics, Range range) {
  const bool is_below = statistics.min.value < range.min;
  const bool is_above = statistics.max.value > range.max;
  if (!is_below && !is_above) return 0;
  const CumulativeCount count(statistics.density());
  std::uint64_t out = 0;
  if (is_below) out += whole_count(count.below(range.min));
  if (is_above) out += whole_count(count.total() - count.up_to(range.max));
  return std::min(out, statistics.value_count);
}

double used_share(const TensorStatistics& statistics, Range range) {
  const double width = static_cast<double>(range.max) - static_cast<double>(range.min);
  if (width <= 0) return 1;
  const auto inside = [&](float value) {
    return static_cast<double>(std::clamp(value, range.min, range.max));
  };
  const double low = std::min(0.0, inside(statistics.min.value));
  const double high = std::max(0.0, inside(statistics.max.value));
  return (high - low) / width;
}

}  // namespace

std::optional<RangeUse> range_use(const TensorStatistics& statistics, Range range) {
  if (statistics.value_count == 0) return std::nullopt;
  return RangeUse{clipped_count(statistics, range), used_share(statistics, range)};
}

}  // namespace qtool
