#pragma once

#include <cstdint>
#include <span>

#include "kernels/blocks.h"
#include "kernels/channels.h"

namespace qtool::kernels {

/// The extremes of the finite values among others; both 0 where there are none. A zero is always
/// +0.
struct MinMax {
  float min = 0;
  float max = 0;
  std::uint64_t finite_count = 0;
  std::uint64_t nonfinite_count = 0;  ///< NaN and infinities
};

/// One pass at memory speed; independent of the order of `values`.
MinMax min_max(std::span<const float> values);

/// `min_max` of every channel; `values` holds outer x count x inner, `out` one for each channel.
void min_max_per_channel(std::span<const float> values, Channels channels, std::span<MinMax> out);

/// `min_max` of every block, `out` one for each.
void min_max_per_block(std::span<const float> values, Blocks blocks, std::span<MinMax> out);

}  // namespace qtool::kernels
