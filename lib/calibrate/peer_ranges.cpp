#include "calibrate/peer_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "calibrate/entropy.h"
#include "kernels/numpy_sum.h"

namespace qtool {
namespace {

using Counts = std::span<const std::int64_t>;

std::int64_t sum_of(Counts counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

Range cut_to(Range range, const PeerExtremes& extremes) {
  if (range.min < extremes.min) range.min = extremes.min;
  if (range.max > extremes.max) range.max = extremes.max;
  return range;
}

/// The first bin up to which there is at least `share` of the values; one past the last where
/// rounding keeps the sum below it.
std::size_t bin_at_share(Counts counts, double share) {
  const auto total = static_cast<double>(sum_of(counts));
  double sum = 0;
  std::size_t i = 0;
  for (; i < counts.size(); ++i) {
    sum += static_cast<double>(counts[i]) / total;
    if (sum >= share) break;
  }
  return i;
}

/// Counts in float32 with every 0 raised to 0.0001 and the others lowered by as much in all. Empty
/// where there is no count, or where one would have to fall below 0.
std::vector<float> smoothed(Counts counts) {
  constexpr double kRaise = 0.0001;
  const auto zeros = std::count(counts.begin(), counts.end(), 0);
  const auto others = static_cast<std::ptrdiff_t>(counts.size()) - zeros;
  if (others == 0) return {};
  const double lower = kRaise * static_cast<double>(zeros) / static_cast<double>(others);
  if (lower >= 1) return {};
  std::vector<float> out;
  out.reserve(counts.size());
  for (const std::int64_t count : counts)
    out.push_back(static_cast<float>(count) + static_cast<float>(count == 0 ? kRaise : -lower));
  return out;
}

void normalize(std::vector<float>& values) {
  const float sum = kernels::numpy_sum<float>(values);
  for (float& value : values) value /= sum;
}

float divergence(Counts p_counts, Counts q_counts) {
  std::vector<float> p = smoothed(p_counts);
  std::vector<float> q = smoothed(q_counts);
  if (p.empty() || q.empty()) return std::numeric_limits<float>::infinity();
  normalize(p);
  normalize(q);
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] *= static_cast<float>(std::log(static_cast<double>(p[i] / q[i])));
  return kernels::numpy_sum<float>(p);
}

/// The slice at the resolution of `levels` integers, in whole values per bin: the rest of a
/// division is lost, and so are the bins after the last whole level.
std::vector<std::int64_t> requantized(Counts slice, Counts p, std::size_t levels) {
  std::vector<std::int64_t> out(slice.size(), 0);
  const std::size_t width = slice.size() / levels;
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * width;
    const std::size_t end = level + 1 == levels ? slice.size() : begin + width;
    const auto filled = static_cast<std::int64_t>(width) -
                        std::count(p.begin() + static_cast<std::ptrdiff_t>(begin),
                                   p.begin() + static_cast<std::ptrdiff_t>(begin + width), 0);
    if (filled == 0) continue;
    const std::int64_t count = sum_of(slice.subspan(begin, end - begin));
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(begin), width, count / filled);
  }
  return out;
}

float divergence_of_slice(Counts counts, std::size_t begin, std::size_t end, std::size_t levels) {
  const Counts slice = counts.subspan(begin, end - begin);
  std::vector<std::int64_t> p(slice.begin(), slice.end());
  p.front() += sum_of(counts.first(begin));
  p.back() += sum_of(counts.subspan(end));
  return divergence(p, requantized(slice, p, levels));
}

}  // namespace

std::optional<Range> peer_percentile_range(const PeerHistogram& histogram,
                                           const CalibrationConfig& config) {
  const Counts counts = histogram.counts();
  if (sum_of(counts) == 0) return std::nullopt;
  if (config.symmetric) {
    const float t = histogram.edges()[bin_at_share(counts, config.percentile / 100)];
    return cut_to({-t, t}, histogram.extremes());
  }
  const double cut = (100 - config.percentile) / 200;
  return cut_to({histogram.edges()[bin_at_share(counts, cut)],
                 histogram.edges()[bin_at_share(counts, 1 - cut)]},
                histogram.extremes());
}

std::optional<Range> peer_entropy_range(const PeerHistogram& histogram,
                                        const CalibrationConfig& config) {
  require_enough_bins(config);
  const Counts counts = histogram.counts();
  if (sum_of(counts) == 0) return std::nullopt;
  const auto levels = static_cast<std::size_t>(config.num_quantized_bins);
  const std::size_t middle = counts.size() / 2;
  Range best;
  float least = 0;
  for (std::size_t i = levels / 2; i <= middle; ++i) {
    const std::size_t begin = middle - i;
    const std::size_t end = std::min(middle + i + 1, counts.size());
    const float value = divergence_of_slice(counts, begin, end, levels);
    if (i != levels / 2 && !(value < least)) continue;
    least = value;
    best = {histogram.edges()[begin], histogram.edges()[end]};
  }
  return cut_to(best, histogram.extremes());
}

}  // namespace qtool
