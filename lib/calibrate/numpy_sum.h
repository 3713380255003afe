#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

namespace qtool {

/// The sum of float or double values in the order that numpy adds them, to the last bit: halves
/// that are summed apart, in blocks of up to 128 values with eight running sums.
template <typename Number>
Number numpy_sum(std::span<const Number> values) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  const std::size_t n = values.size();
  if (n < kLanes) return std::accumulate(values.begin(), values.end(), Number{0});
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kLanes;
    return numpy_sum(values.first(half)) + numpy_sum(values.subspan(half));
  }
  Number lane[kLanes];
  std::copy_n(values.begin(), kLanes, lane);
  std::size_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] += values[i + j];
  Number out =
      ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  for (; i < n; ++i) out += values[i];
  return out;
}

}  // namespace qtool
