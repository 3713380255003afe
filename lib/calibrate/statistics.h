#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "calibrate/exact_sum.h"

namespace qtool {

/// What one pass over the data records of a tensor. Merging is commutative and associative, so the
/// result depends neither on the order of samples nor on threads.
struct TensorStatistics {
  std::uint64_t value_count = 0;      ///< finite values
  std::uint64_t nonfinite_count = 0;  ///< NaN and infinities; they count for nothing else
  float min = 0;                      ///< of the finite values; 0 where there are none
  float max = 0;
  std::uint64_t sample_count = 0;  ///< samples with a finite value
  ExactSum sum_of_minima;          ///< over these samples; for the moving average
  ExactSum sum_of_maxima;

  /// Takes all values that the tensor has in one sample.
  void observe(std::span<const float> values);
  void merge(const TensorStatistics& other);
  friend bool operator==(const TensorStatistics&, const TensorStatistics&) = default;
};

}  // namespace qtool
