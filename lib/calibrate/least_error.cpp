#include "calibrate/least_error.h"

#include <limits>
#include <vector>

#include "calibrate/cumulative_count.h"
#include "calibrate/entropy.h"
#include "calibrate/percentile.h"

namespace qtool {
namespace {

Range extremes(const Density& density, bool is_symmetric) {
  if (!is_symmetric) return {density.min, density.max};
  const auto largest = static_cast<float>(largest_magnitude(density));
  return {-largest, largest};
}

}  // namespace

Range least_error_of(std::span<const Range> candidates, const QuantizationError& error,
                     const QuantizedLevels& levels) {
  Range best = candidates.front();
  double least = std::numeric_limits<double>::infinity();
  for (const Range& candidate : candidates) {
    const double value = error(linear_grid(candidate, levels));
    if (value >= least) continue;
    least = value;
    best = candidate;
  }
  return best;
}

std::optional<Range> auto_range(const Density& density, const CalibrationConfig& config,
                                const QuantizedLevels& levels, double power) {
  if (density.count == 0) return std::nullopt;
  const QuantizationError error(density, power);
  std::vector<Range> candidates{extremes(density, config.symmetric)};
  for (const auto& range : {percentile_range(density, config), entropy_range(density, config)})
    if (range) candidates.push_back(*range);
  candidates.push_back(least_error_search(density, error, {levels, config.symmetric}));
  return least_error_of(candidates, error, levels);
}

}  // namespace qtool
