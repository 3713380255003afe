#include "calibrate/peer_spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/numpy_sum.h"

namespace qtool {
namespace {

constexpr std::int64_t kLeastBins = 512;

float centre(std::span<const float> edges, std::size_t bin, SpreadOf of) {
  const float value = (edges[bin] + edges[bin + 1]) * 0.5F;
  if (of == SpreadOf::Values) return value;
  return std::copysign(std::pow(std::abs(value), 1.0F / 3), value);
}

}  // namespace

void require_spread_bins(const CalibrationConfig& config) {
  if (config.num_bins >= kLeastBins) return;
  throw Error(ErrorKind::Usage, "calibration.num_bins: " + std::to_string(config.num_bins) +
                                    ", expected at least " + std::to_string(kLeastBins) +
                                    " for method distribution");
}

std::optional<Spread> peer_spread(const PeerHistogram& histogram, SpreadOf of) {
  const auto counts = histogram.counts();
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (total == 0) return std::nullopt;
  std::vector<double> values;
  std::vector<double> squares;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const float value = centre(histogram.edges(), i, of);
    const auto count = static_cast<double>(counts[i]);
    values.push_back(count * value);
    squares.push_back(count * (value * value));
  }
  const auto all = static_cast<double>(total);
  const double average = kernels::numpy_sum<double>(values) / all;
  // Rounding can leave the variance of equal values below 0, of which the peer makes NaN.
  const double variance =
      std::max(kernels::numpy_sum<double>(squares) / all - average * average, 0.0);
  return Spread{static_cast<float>(average), static_cast<float>(std::sqrt(variance))};
}

}  // namespace qtool
