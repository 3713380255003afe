#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "calibrate/density.h"
#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// Counts of values in bins of equal width. Candidate i for a range covers i bins on each side of
/// the middle, as far as there are bins: [middle_low - i, middle_high + i).
struct LinearHistogram {
  std::vector<double> counts;
  double width = 0;  ///< of a bin
  double zero = 0;   ///< bins below zero: bin k is [width (k - zero), width (k + 1 - zero))
  std::size_t middle_low = 0;
  std::size_t middle_high = 0;  ///< one more than middle_low where a bin has zero in its middle
};

/// A slice [begin, end) of a histogram's bins.
struct BinSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const BinSlice&, const BinSlice&) = default;
};

/// `bins` bins over (-t, t), t the largest magnitude, of which those outside the exact extremes are
/// left out unless `is_symmetric`; over (0, t) or (-t, 0) where all values are on that side of zero
/// and not `is_symmetric`. Exact zeros are not counted. Needs a value other than zero.
LinearHistogram linear_histogram(const Density& density, std::size_t bins, bool is_symmetric);

/// The slice whose `quantized_bins` levels tell least of the difference from the whole: of the
/// least generalized Kullback-Leibler divergence; of equal ones the narrowest. There are at least
/// two levels.
BinSlice least_divergence(const LinearHistogram& histogram, std::size_t quantized_bins);

/// Throws `Usage` where `num_bins` is less than `num_quantized_bins`.
void require_enough_bins(const CalibrationConfig& config);

/// The range by Kullback-Leibler divergence (docs/numerics.md, "Entropy"; Migacz, "8-bit inference
/// with TensorRT", 2017) over `config.num_bins` bins and `config.num_quantized_bins` levels, no
/// wider than the exact extremes; (-t, t) with `config.symmetric`. Nothing for a tensor without a
/// value. Throws `Usage` where there are fewer bins than levels.
std::optional<Range> entropy_range(const Density& density, const CalibrationConfig& config);

}  // namespace qtool
