#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/calibration_cache.h"
#include "calibrate/channel_extremes.h"
#include "calibrate/peer_collection.h"
#include "calibrate/statistics.h"
#include "config/config.h"

namespace qtool {

// What goes into `calibration.cache`, by what was recorded.

/// Ranges by the config's method; of method distribution the extremes and the spread.
CalibrationCache cache_of_statistics(const std::map<std::string, TensorStatistics>& statistics,
                                     const Config& config);

/// A range per channel. `Input` error for a tensor whose samples differ in the number of channels.
CalibrationCache cache_of_channels(const std::map<std::string, ChannelExtremes>& extremes,
                                   const CalibrationConfig& config);
/// Those of one tensor.
std::vector<Range> channel_ranges(const std::string& name, const ChannelExtremes& extremes,
                                  const CalibrationConfig& config);

/// Whether ranges come from ONNX Runtime's own bins: percentile and entropy of its preset, and
/// method distribution, whose histogram is part of the cache.
bool counts_in_peer_bins(const Config& config);

/// Refuses what a cache could not be made of, before any work: a part of the samples, or bins that
/// the method has no use for. A `Usage` error.
void check_cache_options(const CalibrationConfig& config, bool is_part);

/// Runs the samples for that, and makes a cache of what was counted.
CalibrationCache cache_of_peer_bins(const Model& model, const std::vector<std::string>& tensors,
                                    const std::vector<std::size_t>& samples,
                                    const SampleFolder& folder, const Config& config,
                                    const Progress& progress);

}  // namespace qtool
