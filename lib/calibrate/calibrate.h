#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/channel_extremes.h"
#include "calibrate/channel_maxima.h"
#include "calibrate/channel_sums.h"
#include "calibrate/ranges.h"
#include "calibrate/sample_batch.h"
#include "calibrate/second_moments.h"
#include "calibrate/statistics.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

/// Second moments that are recorded of a tensor.
struct MomentsRequest {
  std::string name;
  MomentsKind kind = MomentsKind::Diagonal;
  std::int64_t axis = 1;                  ///< along which channels lie; -1: the last
  std::optional<ConvWindow> window = {};  ///< of rows that are more, or fewer, than the channels
};

/// What is recorded where there are no values.
SecondMoments no_moments(const MomentsRequest& request);

/// What to record, over which samples, and how.
struct Collection {
  std::vector<std::string> tensors;           ///< float32 values of the main graph
  std::vector<AveragedTensor> averaged = {};  ///< of them or others, float32 too
  StatisticsKind kind = StatisticsKind::Extremes;
  /// Keeps the extremes of each sample: 16 bytes for each tensor and sample.
  bool keeps_sample_extremes = false;
  bool keeps_channel_extremes = false;
  /// Values are added up in the graph's own order, so that extremes are another runtime's to the
  /// last bits.
  bool keeps_order = false;
  std::vector<std::size_t> samples;  ///< indices into the folder, ascending
  int threads = 1;
  /// Joined samples are as one: not for what is kept of each.
  Batch batch = {};
  std::vector<std::string> providers = {};  ///< execution providers, as of SessionConfig
  /// On an interrupt, samples that run are finished and what was recorded so far is the result;
  /// otherwise an interrupt throws at once.
  bool keep_on_interrupt = false;
  bool channel_maxima = false;                      ///< also of the averaged tensors
  std::vector<MomentsRequest> second_moments = {};  ///< of averaged tensors
};

struct CalibrationResult {
  std::map<std::string, TensorStatistics> statistics;
  std::map<std::string, ChannelSums> channel_sums;      ///< of the averaged tensors
  std::map<std::string, ChannelMaxima> channel_maxima;  ///< of the same, where asked for
  std::vector<SecondMoments> second_moments;            ///< in the order of the requests
  /// Where they were asked for, of the recorded tensors.
  std::map<std::string, ChannelExtremes> channel_extremes;
  std::vector<std::size_t> samples;  ///< those that were run, ascending
  std::size_t run_count = 0;         ///< fewer where samples were joined
};

/// The means of those that have one.
ChannelMeans channel_means(const std::map<std::string, ChannelSums>& sums);

/// The largest magnitudes of those that have values, and one number of channels.
ChannelPeaks channel_peaks(const std::map<std::string, ChannelMaxima>& maxima);

/// Every sample of the folder.
std::vector<std::size_t> all_samples(const SampleFolder& folder);

/// Runs `model` once over the samples, as observe_samples does, and records the statistics of the
/// tensors.
CalibrationResult collect_statistics(const Model& model, const Collection& collection,
                                     const SampleFolder& folder, const Progress& progress);

}  // namespace qtool
