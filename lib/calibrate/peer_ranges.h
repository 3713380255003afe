#pragma once

#include <optional>

#include "calibrate/peer_histogram.h"
#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// Percentile range of onnxruntime.quantization 1.32: the left edges of the bins in which the share
/// is reached, cut to the extremes. With `config.symmetric` of a histogram of magnitudes, else of
/// values. As there, values that share one bin have a range that ends before it begins, by a bin.
/// Nothing for a histogram without a value.
std::optional<Range> peer_percentile_range(const PeerHistogram& histogram,
                                           const CalibrationConfig& config);

/// Entropy range of onnxruntime.quantization 1.32, of a histogram of values; `config.symmetric`
/// changes nothing, as there. Nothing for a histogram without a value. Throws `Usage` where there
/// are fewer bins than `config.num_quantized_bins`.
std::optional<Range> peer_entropy_range(const PeerHistogram& histogram,
                                        const CalibrationConfig& config);

}  // namespace qtool
