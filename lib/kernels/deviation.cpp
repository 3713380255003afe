#include "kernels/deviation.h"

#include <cmath>

#include "kernels/float16.h"
#include "kernels/numpy_sum.h"

namespace qtool::kernels {
namespace {

float to_float16(double value) { return static_cast<float>(round_to_float16(value)); }

}  // namespace

float deviation(std::span<const float> values) {
  if (values.empty()) return 0;
  // numpy divides by a 64-bit count, and so in float64.
  const auto count = static_cast<double>(values.size());
  const auto mean = static_cast<float>(static_cast<double>(numpy_sum(values)) / count);
  const auto squares = numpy_sum<float>(0, values.size(), [values, mean](std::size_t i) {
    const float difference = values[i] - mean;
    return difference * difference;
  });
  return std::sqrt(static_cast<float>(static_cast<double>(squares) / count));
}

float deviation_of_float16(std::span<const float> values) {
  if (values.empty()) return 0;
  const auto count = static_cast<double>(values.size());
  const float sum = to_float16(static_cast<double>(numpy_sum(values)));
  const float mean = to_float16(static_cast<double>(sum) / count);
  const auto squares = numpy_sum<float>(0, values.size(), [values, mean](std::size_t i) {
    const float difference = to_float16(static_cast<double>(values[i] - mean));
    return to_float16(static_cast<double>(difference * difference));
  });
  const float variance =
      to_float16(static_cast<double>(to_float16(static_cast<double>(squares))) / count);
  return to_float16(static_cast<double>(std::sqrt(variance)));
}

}  // namespace qtool::kernels
