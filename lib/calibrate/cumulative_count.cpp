#include "calibrate/cumulative_count.h"

#include <algorithm>
#include <cmath>

namespace qtool {

double largest_magnitude(const Density& density) {
  return std::max(std::abs(static_cast<double>(density.min)),
                  std::abs(static_cast<double>(density.max)));
}

CumulativeCount::CumulativeCount(const Density& density) : bins_(density.bins) {
  before_.reserve(bins_.size() + 1);
  for (const auto& bin : bins_) {
    before_.push_back(total_);
    total_ += static_cast<double>(bin.count);
  }
  before_.push_back(total_);
}

/// Values below x, of which all bins before `bin` are and none after it.
double CumulativeCount::count_until(std::size_t bin, double x) const {
  if (bin == bins_.size()) return total_;
  const double low = bins_[bin].low;
  const double high = bins_[bin].high;
  if (x <= low) return before_[bin];
  return before_[bin] + static_cast<double>(bins_[bin].count) * (x - low) / (high - low);
}

double CumulativeCount::below(double x) const {
  const auto bin = std::partition_point(bins_.begin(), bins_.end(), [x](const DensityBin& b) {
    return b.high < x || (b.high == x && b.low < x);
  });
  return count_until(static_cast<std::size_t>(bin - bins_.begin()), x);
}

double CumulativeCount::up_to(double x) const {
  const auto bin = std::partition_point(bins_.begin(), bins_.end(),
                                        [x](const DensityBin& b) { return b.high <= x; });
  return count_until(static_cast<std::size_t>(bin - bins_.begin()), x);
}

double CumulativeCount::inverse(double target) const {
  // The first bin at whose end the target is reached.
  const auto after = std::lower_bound(before_.begin() + 1, before_.end(), target);
  const auto bin =
      std::min(static_cast<std::size_t>(after - before_.begin() - 1), bins_.size() - 1);
  const double share = (target - before_[bin]) / static_cast<double>(bins_[bin].count);
  const double low = bins_[bin].low;
  return low + (bins_[bin].high - low) * std::clamp(share, 0.0, 1.0);
}

}  // namespace qtool
