#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/peer_histogram.h"
#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

/// What to count in ONNX Runtime's bins, and over which samples.
struct PeerCollection {
  std::vector<std::string> tensors;
  PeerHistogram::Of of = PeerHistogram::Of::Values;
  std::size_t bins = 1;
  std::vector<std::size_t> samples;  ///< indices into the folder, ascending
  int threads = 1;
  bool allow_nonfinite = false;  ///< else tensors with NaN or infinity have no histogram
};

using PeerHistograms = std::map<std::string, PeerHistogram>;

/// Runs `model` twice over the samples: for the extremes, on which the bins depend, and to count.
/// Tensors without a finite value have no histogram.
PeerHistograms collect_peer_histograms(const Model& model, const PeerCollection& collection,
                                       const SampleFolder& folder, const Progress& progress);

/// The histogram that ONNX Runtime's form of the method is computed from.
PeerHistogram::Of peer_histogram_for(const CalibrationConfig& config);

/// Ranges by the config's method, percentile or entropy, as ONNX Runtime has them.
TensorRanges peer_ranges(const PeerHistograms& histograms, const CalibrationConfig& config,
                         int threads);

}  // namespace qtool
