#pragma once

#include <cstddef>
#include <span>

namespace qtool::kernels {

/// Sums that distances between a tensor and its reference are made of; NaN or infinite where a
/// value is.
struct ErrorNorms {
  double dot = 0;                ///< sum of a * b
  double reference_squares = 0;  ///< sum of a * a
  double other_squares = 0;      ///< sum of b * b
  double error_squares = 0;      ///< sum of (a - b)^2
  double error_sum = 0;          ///< sum of |a - b|
  double max_error = 0;          ///< largest |a - b|; NaN errors are passed over
};

/// Sums in float64 in a stated order, so that every machine gives the same bits: element i goes to
/// partial sum i mod 8, in order; the eight are then added as ((0+4)+(2+6))+((1+5)+(3+7)). Both
/// spans are of one length.
ErrorNorms error_norms(std::span<const float> reference, std::span<const float> other);
ErrorNorms error_norms(std::span<const double> reference, std::span<const double> other);

}  // namespace qtool::kernels
