#include "calibrate/mse.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "calibrate/cumulative_count.h"

namespace qtool {
namespace {

/// Steps fine enough to see every valley: the error of rounding grows with a power of the range,
/// and that of clipping falls about as fast.
constexpr double kCoarseRatio = 0.8;
constexpr int kCoarseTrials = 40;  // down to 1/6000
/// Clipping costs more the narrower the range, and rounding no more than at the best range: past
/// twice the best error nothing narrower can win. Twice that again for data that fits some grids.
constexpr double kHopeless = 4;
constexpr int kFineTrials = 9;

struct Trial {
  double at = 1;
  double error = 0;
};

using Objective = std::function<double(double)>;

/// Narrows [low, high] in the golden ratio; `best` becomes a trial in it that is better.
void refine(const Objective& error, Trial& best, double low, double high) {
  constexpr double kGolden = 0.6180339887498949;
  const auto trial = [&](double share) {
    const double at = low + share * (high - low);
    return Trial{at, error(at)};
  };
  Trial a = trial(1 - kGolden);
  Trial b = trial(kGolden);
  for (int i = 2; i < kFineTrials; ++i) {
    if (a.error < b.error) {
      high = b.at;
      b = a;
      a = trial(1 - kGolden);
    } else {
      low = a.at;
      a = b;
      b = trial(kGolden);
    }
  }
  const Trial& least = a.error < b.error ? a : b;
  if (least.error < best.error) best = least;
}

/// The least error near a share, within a coarse step on each side.
double better_share(const Objective& error, Trial known) {
  refine(error, known, known.at * kCoarseRatio, std::min(1.0, known.at / kCoarseRatio));
  return known.at;
}

/// The share of an end, from (0, 1], with the least error.
double best_share(const Objective& error) {
  Trial best{1, error(1)};
  double at = 1;
  for (int i = 1; i < kCoarseTrials; ++i) {
    at *= kCoarseRatio;
    const Trial trial{at, error(at)};
    if (trial.error < best.error) best = trial;
    if (trial.error > kHopeless * best.error) break;
  }
  return better_share(error, best);
}

Range scaled(Range range, double low, double high) {
  return {static_cast<float>(range.min * low), static_cast<float>(range.max * high)};
}

/// Both ends move in together first, which finds the order of magnitude, then each in turn, and
/// once more nearby. An end at zero stays there.
Range search_both_ends(Range full, const std::function<double(Range)>& error) {
  double low = 1;
  double high = 1;
  const bool has_both = full.min < 0 && full.max > 0;
  if (has_both) {
    low = best_share([&](double s) { return error(scaled(full, s, s)); });
    high = low;
  }
  const auto error_of_low = [&](double s) { return error(scaled(full, s, high)); };
  const auto error_of_high = [&](double s) { return error(scaled(full, low, s)); };
  if (full.max > 0) high = best_share(error_of_high);
  if (full.min < 0) low = best_share(error_of_low);
  if (has_both) high = better_share(error_of_high, {high, error_of_high(high)});
  if (has_both) low = better_share(error_of_low, {low, error_of_low(low)});
  return scaled(full, low, high);
}

Range search_symmetric(float largest, const std::function<double(Range)>& error) {
  const Range full{-largest, largest};
  const double share = best_share([&](double s) { return error(scaled(full, s, s)); });
  return scaled(full, share, share);
}

}  // namespace

Range least_error_search(const Density& density, const QuantizationError& error,
                         const RangeSearch& search) {
  const auto error_of = [&](Range range) { return error(linear_grid(range, search.levels)); };
  const auto largest = static_cast<float>(largest_magnitude(density));
  if (search.is_symmetric) return search_symmetric(largest, error_of);
  // The quantizer widens every range to zero.
  const Range full{std::min(density.min, 0.0F), std::max(density.max, 0.0F)};
  const Range best = search.levels.is_symmetric ? search_symmetric(largest, error_of)
                                                : search_both_ends(full, error_of);
  return {std::clamp(best.min, density.min, density.max),
          std::clamp(best.max, density.min, density.max)};
}

std::optional<Range> mse_range(const Density& density, const RangeSearch& search) {
  if (density.count == 0) return std::nullopt;
  return least_error_search(density, QuantizationError(density, 2), search);
}

}  // namespace qtool
