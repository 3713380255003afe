#include "calibrate/quantization_error.h"

#include <algorithm>
#include <cmath>

#include "calibrate/cumulative_count.h"

namespace qtool {
namespace {

/// Bins are joined up to this share of their distance from zero, or of the largest magnitude ...
constexpr double kJoinedShare = 1.0 / 64;
constexpr double kNegligibleShare = 1.0 / (1 << 17);
/// ... but never those that hold more than this share of the values: data with few distinct values
/// is all spikes, whose places decide which scale fits.
constexpr double kSpikeShare = 1.0 / 1024;

bool may_join(const DensityBin& a, const DensityBin& b, double largest, double most_values) {
  const double low = a.low;
  const double high = b.high;
  if (a.high != b.low || a.low == a.high || b.low == b.high || (low < 0 && high > 0)) return false;
  const double distance = std::min(std::abs(low), std::abs(high));
  return static_cast<double>(a.count + b.count) <= most_values &&
         high - low <= std::max(distance * kJoinedShare, largest * kNegligibleShare);
}

/// Fewer, wider bins where the density is smooth at the scale of any range worth a trial.
std::vector<DensityBin> joined(const Density& density) {
  const double largest = largest_magnitude(density);
  const double most_values = static_cast<double>(density.count) * kSpikeShare;
  std::vector<DensityBin> out;
  for (const auto& bin : density.bins) {
    if (!out.empty() && may_join(out.back(), bin, largest, most_values)) {
      out.back().high = bin.high;
      out.back().count += bin.count;
    } else {
      out.push_back(bin);
    }
  }
  return out;
}

/// The nearest integer, without the call that std::nearbyint is on machines before SSE4: the sum
/// has no bits left for a fraction. For |u| < 2^51.
double nearest(double u) {
  constexpr double kFractionless = 6755399441055744.0;  // 1.5 * 2^52
  return (u + kFractionless) - kFractionless;
}

}  // namespace

QuantizationError::QuantizationError(const Density& density, double power) : power_(power) {
  const double step = 0.5 / kTableSteps;
  for (std::size_t i = 0; i < rounding_.size() && power != 2; ++i)
    rounding_[i] = clipping_integral(step * static_cast<double>(i));
  add_bins(joined(density));
}

void QuantizationError::add_bins(const std::vector<DensityBin>& bins) {
  for (const auto& bin : bins) {
    const auto count = static_cast<double>(bin.count);
    total_ += count;
    if (bin.low == bin.high) {
      points_.push_back(bin);
      continue;
    }
    const double low = bin.low;
    const double high = bin.high;
    add_edge(low, count / (high - low));
    add_edge(high, 0);
  }
}

void QuantizationError::add_edge(double edge, double density_above) {
  if (edges_.empty() || edges_.back() != edge) {
    edges_.push_back(edge);
    steps_.push_back(0);
  }
  steps_.back() += density_above_last_edge_ - density_above;
  density_above_last_edge_ = density_above;
}

/// Integral of d^power from 0 to `distance`.
double QuantizationError::clipping_integral(double distance) const {
  if (power_ == 2) return distance * distance * distance / 3;
  return std::pow(distance, power_ + 1) / (power_ + 1);
}

/// Integral from 0 to u of the distance to the nearest integer, to the power; odd in u.
double QuantizationError::rounding_integral(double u) const {
  const double whole = nearest(u);
  const double rest = u - whole;
  if (power_ == 2) return whole / 12 + rest * rest * rest / 3;
  const double place = std::abs(rest) * (2 * kTableSteps);
  const auto index = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(index);
  const double part = rounding_[index] + share * (rounding_[index + 1] - rounding_[index]);
  return 2 * whole * rounding_[kTableSteps] + std::copysign(part, rest);
}

double QuantizationError::error_at(double x, const LinearGrid& grid) const {
  const double nearest_level = nearest(x / grid.scale) * grid.scale;
  return std::pow(std::abs(x - std::clamp(nearest_level, grid.lowest, grid.highest)), power_);
}

double QuantizationError::operator()(const LinearGrid& grid) const {
  const double scale = grid.scale;
  const double per_scale = 1 / scale;
  const double unit = power_ == 2 ? scale * scale * scale : std::pow(scale, power_ + 1);
  const auto begin = std::partition_point(edges_.begin(), edges_.end(),
                                          [&](double edge) { return edge < grid.lowest; });
  const auto end =
      std::partition_point(begin, edges_.end(), [&](double edge) { return edge <= grid.highest; });
  const auto first = static_cast<std::size_t>(begin - edges_.begin());
  const auto last = static_cast<std::size_t>(end - edges_.begin());
  double inside = 0;
  for (std::size_t i = first; i < last; ++i)
    inside += steps_[i] * rounding_integral(edges_[i] * per_scale);
  // Between the outermost levels and the last half step beyond them both forms say the same.
  double outside = 0;
  const double at_lowest = unit * rounding_integral(grid.lowest * per_scale);
  for (std::size_t i = 0; i < first; ++i)
    outside += steps_[i] * (at_lowest - clipping_integral(grid.lowest - edges_[i]));
  const double at_highest = unit * rounding_integral(grid.highest * per_scale);
  for (std::size_t i = last; i < edges_.size(); ++i)
    outside += steps_[i] * (at_highest + clipping_integral(edges_[i] - grid.highest));
  for (const auto& point : points_)
    outside += static_cast<double>(point.count) * error_at(point.low, grid);
  return (unit * inside + outside) / total_;
}

}  // namespace qtool
