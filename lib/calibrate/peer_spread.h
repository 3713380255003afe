#pragma once

#include <optional>

#include "calibrate/distribution.h"
#include "calibrate/peer_histogram.h"

namespace qtool {

/// Average and deviation that method Distribution of onnxruntime.quantization 1.32 has for a
/// histogram of values: each counts as the centre of its bin. Float32 numbers; with `CubeRoots` the
/// last bit may differ, as numpy's power does. The range beside them is the outermost edges.
/// Nothing for a histogram without a value. Throws `Usage` where there are fewer than 512 bins.
std::optional<Spread> peer_spread(const PeerHistogram& histogram, SpreadOf of);

}  // namespace qtool
