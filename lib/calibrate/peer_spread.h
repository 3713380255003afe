#pragma once

#include <optional>

#include "calibrate/distribution.h"
#include "calibrate/peer_histogram.h"
#include "config/config.h"

namespace qtool {

/// Throws `Usage` where `num_bins` is too small for method Distribution there.
void require_spread_bins(const CalibrationConfig& config);

/// Average and deviation that method Distribution of onnxruntime.quantization 1.32 has for a
/// histogram of values: each counts as the centre of its bin. Float32 numbers; with `CubeRoots` the
/// last bit may differ, as numpy's power does. The range beside them is the outermost edges.
/// Nothing for a histogram without a value.
std::optional<Spread> peer_spread(const PeerHistogram& histogram, SpreadOf of);

}  // namespace qtool
