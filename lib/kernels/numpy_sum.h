#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace qtool::kernels {

/// The sum of term(first) to term(first + count - 1) in the order that numpy adds an array, to the
/// last bit: halves that are summed apart, in blocks of up to 128 with eight running sums.
template <typename Number, typename Term>
Number numpy_sum(std::size_t first, std::size_t count, const Term& term) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  Number out = 0;
  if (count > kBlock) {
    const std::size_t half = count / 2 - count / 2 % kLanes;
    return numpy_sum<Number>(first, half, term) +
           numpy_sum<Number>(first + half, count - half, term);
  }
  std::size_t i = 0;
  if (count >= kLanes) {
    Number lane[kLanes];
    for (; i < kLanes; ++i) lane[i] = term(first + i);
    for (; i + kLanes <= count; i += kLanes)
      for (std::size_t j = 0; j < kLanes; ++j) lane[j] += term(first + i + j);
    out = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
  for (; i < count; ++i) out += term(first + i);
  return out;
}

/// The sum of float or double values as numpy adds them.
template <typename Number>
Number numpy_sum(std::span<const Number> values) {
  return numpy_sum<Number>(0, values.size(), [values](std::size_t i) { return values[i]; });
}

}  // namespace qtool::kernels
