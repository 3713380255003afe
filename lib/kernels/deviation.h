#pragma once

#include <cstdint>
#include <span>

namespace qtool::kernels {

/// Population standard deviation of finite values, as numpy.std computes it for a float32 array, to
/// the last bit: float32 sums in pairs. 0 where there are no values.
float deviation(std::span<const float> values);

/// The same for a float16 array, whose `values` these are. numpy rounds the mean, each difference,
/// each square and both sums to float16; the sums may be infinite.
float deviation_of_float16(std::span<const float> values);

}  // namespace qtool::kernels
