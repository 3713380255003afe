#include "calibrate/entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "calibrate/cumulative_count.h"

namespace qtool {
namespace {

/// What a level without a value counts as, where the whole has values: the share of a value that
/// keeps the divergence finite.
constexpr double kSmoothing = 1e-4;
/// Divergences nearer than this are equal: sums of a million terms differ by as much.
constexpr double kEqual = 1e-12;
/// Of so many candidates one is tried first, so that most others can be given up early.
constexpr std::size_t kCoarseStride = 16;

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

/// Sums over the bins before each, so that any slice costs two look-ups.
class Divergence {
 public:
  Divergence(const LinearHistogram& histogram, std::size_t quantized_bins);

  std::size_t first_candidate() const { return first_; }
  std::size_t last_candidate() const { return last_; }
  BinSlice slice(std::size_t candidate) const;
  /// Divergence of the candidate, or any number above `limit` where it is above.
  double of(BinSlice slice, double limit) const;

 private:
  struct Level {
    double divergence = 0;  ///< sum of p log(p / q) over its bins
    double count = 0;       ///< sum of q
  };

  double count_in(BinSlice s) const { return count_[s.end] - count_[s.begin]; }
  double filled_in(BinSlice s) const { return filled_[s.end] - filled_[s.begin]; }
  double x_log_x_in(BinSlice s) const { return x_log_x_[s.end] - x_log_x_[s.begin]; }
  BinSlice level(BinSlice slice, std::size_t index) const;
  double inner_divergence(BinSlice bins) const;
  Level outer_level(BinSlice bins, std::size_t edge, double outliers) const;

  const LinearHistogram& histogram_;
  std::size_t levels_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::vector<double> count_{0};
  std::vector<double> filled_{0};
  std::vector<double> x_log_x_{0};
};

Divergence::Divergence(const LinearHistogram& histogram, std::size_t quantized_bins)
    : histogram_(histogram),
      levels_(std::max<std::size_t>(2, std::min(quantized_bins, histogram.counts.size()))) {
  for (const double count : histogram.counts) {
    count_.push_back(count_.back() + count);
    filled_.push_back(filled_.back() + (count > 0 ? 1 : 0));
    x_log_x_.push_back(x_log_x_.back() + x_log_x(count));
  }
  const std::size_t bins = histogram.counts.size();
  last_ = std::max(histogram.middle_low, bins - histogram.middle_high);
  while (first_ < last_ && slice(first_).end - slice(first_).begin < levels_) ++first_;
}

BinSlice Divergence::slice(std::size_t candidate) const {
  return {histogram_.middle_low - std::min(candidate, histogram_.middle_low),
          std::min(histogram_.middle_high + candidate, histogram_.counts.size())};
}

/// Levels hold equal numbers of bins, as near as whole bins can.
BinSlice Divergence::level(BinSlice slice, std::size_t index) const {
  const std::size_t length = slice.end - slice.begin;
  return {slice.begin + index * length / levels_, slice.begin + (index + 1) * length / levels_};
}

/// p and q are the same values, q spread evenly over the bins that have any.
double Divergence::inner_divergence(BinSlice bins) const {
  const double count = count_in(bins);
  return count > 0 ? x_log_x_in(bins) - count * std::log(count / filled_in(bins)) : 0;
}

/// In the first and the last bin of a slice p counts the values beyond it too, q does not.
Divergence::Level Divergence::outer_level(BinSlice bins, std::size_t edge, double outliers) const {
  const double count = count_in(bins);
  if (count + outliers <= 0) return {};
  const double at_edge = histogram_.counts[edge];
  const double p_log_p = x_log_x_in(bins) - x_log_x(at_edge) + x_log_x(at_edge + outliers);
  const double filled = filled_in(bins) + (at_edge <= 0 && outliers > 0 ? 1 : 0);
  const double q = count > 0 ? count / filled : kSmoothing;
  return {p_log_p - (count + outliers) * std::log(q), q * filled};
}

double Divergence::of(BinSlice s, double limit) const {
  if (count_in(s) <= 0) return std::numeric_limits<double>::infinity();
  const double total = count_.back();
  const BinSlice first_bins = level(s, 0);
  const BinSlice last_bins = level(s, levels_ - 1);
  const Level first = outer_level(first_bins, s.begin, count_[s.begin]);
  const Level last = outer_level(last_bins, s.end - 1, total - count_[s.end]);
  const double q_count = first.count + last.count + count_in({first_bins.end, last_bins.begin});
  const double missing = q_count - total;
  double sum = first.divergence + last.divergence;
  const double hopeless = limit * total - missing;
  // No inner level is below 0: a partial sum is a lower bound. The levels around zero hold most.
  const std::size_t middle = std::clamp<std::size_t>(
      (histogram_.middle_low - s.begin) * levels_ / (s.end - s.begin), 1, levels_ - 1);
  for (std::size_t i = middle; i + 1 < levels_ && sum <= hopeless; ++i)
    sum += inner_divergence(level(s, i));
  for (std::size_t i = middle; i-- > 1 && sum <= hopeless;) sum += inner_divergence(level(s, i));
  return (sum + missing) / total;
}

/// Zero keeps its exact level whatever the range: how many zeros there are says nothing about it.
Density without_zeros(Density density) {
  const auto is_zero = [](const DensityBin& bin) { return bin.low == 0 && bin.high == 0; };
  std::erase_if(density.bins, is_zero);
  return density;
}

/// Keeps only the bins that can hold values between the extremes.
void cut_unused(LinearHistogram& h, double min, double max) {
  const auto bins = static_cast<double>(h.counts.size());
  const double first = std::clamp(std::floor(min / h.width + h.zero), 0.0, bins - 1);
  const double last = std::clamp(std::floor(max / h.width + h.zero) + 1, first + 1, bins);
  const auto begin = static_cast<std::ptrdiff_t>(first);
  h.counts.erase(h.counts.begin() + static_cast<std::ptrdiff_t>(last), h.counts.end());
  h.counts.erase(h.counts.begin(), h.counts.begin() + begin);
  h.zero -= first;
  h.middle_low -= static_cast<std::size_t>(begin);
  h.middle_high -= static_cast<std::size_t>(begin);
}

void place_over_both_sides(LinearHistogram& h, double largest, std::size_t bins) {
  h.width = 2 * largest / static_cast<double>(bins);
  h.zero = static_cast<double>(bins) / 2;
  h.middle_low = bins / 2;
  h.middle_high = (bins + 1) / 2;
}

void place_over_one_side(LinearHistogram& h, double largest, std::size_t bins, bool is_positive) {
  h.width = largest / static_cast<double>(bins);
  h.middle_low = is_positive ? 0 : bins;
  h.middle_high = h.middle_low;
  h.zero = static_cast<double>(h.middle_low);
}

}  // namespace

void require_enough_bins(const CalibrationConfig& config) {
  if (config.num_quantized_bins <= config.num_bins) return;
  throw Error(ErrorKind::Usage, "calibration.num_bins: " + std::to_string(config.num_bins) +
                                    ", expected no fewer than calibration.num_quantized_bins (" +
                                    std::to_string(config.num_quantized_bins) + ")");
}

LinearHistogram linear_histogram(const Density& density, std::size_t bins, bool is_symmetric) {
  LinearHistogram out;
  const double largest = largest_magnitude(density);
  const bool is_mixed = density.min < 0 && density.max > 0;
  if (is_symmetric || is_mixed) {
    place_over_both_sides(out, largest, bins);
  } else {
    place_over_one_side(out, largest, bins, density.max > 0);
  }
  const CumulativeCount count(without_zeros(density));
  double before = 0;
  for (std::size_t k = 1; k <= bins; ++k) {
    const double edge = out.width * (static_cast<double>(k) - out.zero);
    const double until = k == bins ? count.total() : count.below(edge);
    out.counts.push_back(until - before);
    before = until;
  }
  if (!is_symmetric && is_mixed) cut_unused(out, density.min, density.max);
  return out;
}

BinSlice least_divergence(const LinearHistogram& histogram, std::size_t quantized_bins) {
  const Divergence divergence(histogram, quantized_bins);
  double limit = std::numeric_limits<double>::infinity();
  for (auto i = divergence.first_candidate(); i <= divergence.last_candidate(); i += kCoarseStride)
    limit = std::min(limit, divergence.of(divergence.slice(i), limit));
  limit += 2 * kEqual;
  auto best = divergence.last_candidate();
  for (auto i = divergence.first_candidate(); i <= divergence.last_candidate(); ++i) {
    const double value = divergence.of(divergence.slice(i), limit);
    if (value >= limit - kEqual) continue;
    limit = value;
    best = i;
  }
  return divergence.slice(best);
}

std::optional<Range> entropy_range(const Density& density, const CalibrationConfig& config) {
  require_enough_bins(config);
  if (density.count == 0) return std::nullopt;
  const double largest = largest_magnitude(density);
  if (largest == 0) return Range{0, 0};
  const LinearHistogram histogram =
      linear_histogram(density, static_cast<std::size_t>(config.num_bins), config.symmetric);
  const BinSlice best =
      least_divergence(histogram, static_cast<std::size_t>(config.num_quantized_bins));
  const double low = histogram.width * (static_cast<double>(best.begin) - histogram.zero);
  const double high = histogram.width * (static_cast<double>(best.end) - histogram.zero);
  if (config.symmetric) {
    const auto t = static_cast<float>(std::min(high, largest));
    return Range{-t, t};
  }
  return Range{std::clamp(static_cast<float>(low), density.min, density.max),
               std::clamp(static_cast<float>(high), density.min, density.max)};
}

}  // namespace qtool
