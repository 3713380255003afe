#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/density.h"

namespace qtool {

/// Larger magnitude of the two extremes.
double largest_magnitude(const Density& density);

/// How many values of a density lie below a bound, in float64. Exact at the edges of bins; linear
/// within them.
class CumulativeCount {
 public:
  explicit CumulativeCount(const Density& density);

  double total() const { return total_; }
  double below(double x) const;  ///< values < x
  double up_to(double x) const;  ///< values <= x; more than `below` where x is a bin of no width
  /// The least x with up_to(x) >= `target`, for 0 < target <= total.
  double inverse(double target) const;

 private:
  double count_until(std::size_t bin, double x) const;

  std::vector<DensityBin> bins_;
  std::vector<double> before_;  ///< values in the bins before each, and at the end all
  double total_ = 0;
};

}  // namespace qtool
