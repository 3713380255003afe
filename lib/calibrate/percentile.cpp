#include "calibrate/percentile.h"

#include <algorithm>
#include <cmath>

#include "calibrate/cumulative_count.h"

namespace qtool {
namespace {

/// Enough halvings for any two float32 values to be told apart.
constexpr int kHalvings = 64;

/// The least t such that `target` values lie in [-t, t].
double magnitude_at(const CumulativeCount& count, double target, double largest) {
  double low = 0;
  double high = largest;
  for (int i = 0; i < kHalvings; ++i) {
    const double t = (low + high) / 2;
    (count.up_to(t) - count.below(-t) < target ? low : high) = t;
  }
  return high;
}

}  // namespace

std::optional<Range> percentile_range(const Density& density, const CalibrationConfig& config) {
  if (density.count == 0) return std::nullopt;
  const CumulativeCount count(density);
  if (config.symmetric) {
    const double target = count.total() * config.percentile / 100;
    const auto t = static_cast<float>(magnitude_at(count, target, largest_magnitude(density)));
    return Range{-t, t};
  }
  const double cut = count.total() * (100 - config.percentile) / 200;
  if (cut == 0) return Range{density.min, density.max};
  const auto low = static_cast<float>(count.inverse(cut));
  const auto high = static_cast<float>(count.inverse(count.total() - cut));
  return Range{std::clamp(low, density.min, density.max),
               std::clamp(high, density.min, density.max)};
}

}  // namespace qtool
