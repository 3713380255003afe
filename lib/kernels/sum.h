#pragma once

#include <span>

#include "kernels/channels.h"

namespace qtool::kernels {

/// The sum of finite values in float64, the same on every machine: value i is added to part i mod
/// 16, and the parts to each other in pairs at distance 8, 4, 2 and 1.
double sum(std::span<const float> values);

/// The sum of every channel: `values` holds outer x count x inner, `out` one sum for each channel.
/// Pieces of a channel that lie together are summed as `sum` does, and pieces in their order.
void sum_per_channel(std::span<const float> values, Channels channels, std::span<double> out);

}  // namespace qtool::kernels
