#pragma once

#include <cstddef>
#include <cstdint>

namespace qtool::kernels {

/// Scales and zero points by element: one of each where `stride` is 0, whole vectors of them where
/// it is 1.
struct RowParams {
  const float* scales;
  const std::int32_t* zero_points;
  std::size_t stride;
  std::int32_t qmin;
  std::int32_t qmax;
};

}  // namespace qtool::kernels
