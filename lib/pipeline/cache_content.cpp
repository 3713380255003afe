#include "pipeline/cache_content.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "calibrate/entropy.h"
#include "calibrate/estimate.h"
#include "calibrate/peer_spread.h"
#include "model/messages.h"
#include "quantize/params.h"

namespace qtool {
namespace {

int threads_of(const Config& config) {
  return config.threads > 0 ? config.threads : available_cores();
}

template <typename Tensors>
std::vector<std::string> names_of(const Tensors& tensors) {
  std::vector<std::string> out;
  out.reserve(tensors.size());
  for (const auto& [name, ignored] : tensors) out.push_back(name);
  return out;
}

/// Extremes and spread of the values themselves; no histogram.
CalibrationCache spreads_of(const std::map<std::string, TensorStatistics>& statistics,
                            const CalibrationConfig& config) {
  CalibrationCache out;
  out.method = CalibrationMethod::Distribution;
  for (const auto& [name, tensor] : statistics) {
    if (!has_range(tensor, config)) {
      out.without_range.push_back(name);
      continue;
    }
    CachedTensor& cached = out.tensors[name];
    cached.lowest = {tensor.min.value};
    cached.highest = {tensor.max.value};
    cached.spread = spread(tensor.density(), SpreadOf::Values);
  }
  return out;
}

void add_counts(CachedTensor& tensor, const PeerHistogram& histogram) {
  tensor.counts.assign(histogram.counts().begin(), histogram.counts().end());
  tensor.edges.assign(histogram.edges().begin(), histogram.edges().end());
}

/// The range beside a spread is the outermost edges there.
CalibrationCache spreads_of(const PeerHistograms& histograms) {
  CalibrationCache out;
  out.method = CalibrationMethod::Distribution;
  for (const auto& [name, histogram] : histograms) {
    CachedTensor& cached = out.tensors[name];
    cached.lowest = {histogram.edges().front()};
    cached.highest = {histogram.edges().back()};
    cached.spread = peer_spread(histogram, SpreadOf::Values);
  }
  return out;
}

}  // namespace

CalibrationCache cache_of_statistics(const std::map<std::string, TensorStatistics>& statistics,
                                     const Config& config) {
  const CalibrationConfig& calibration = config.calibration;
  if (calibration.method == CalibrationMethod::Distribution)
    return spreads_of(statistics, calibration);
  return cache_of(estimate_ranges(statistics, calibration, activation_levels(config.quantization),
                                  threads_of(config)),
                  names_of(statistics), calibration.method);
}

std::vector<Range> channel_ranges(const std::string& name, const ChannelExtremes& extremes,
                                  const CalibrationConfig& config) {
  if (extremes.is_ragged()) {
    throw Error(ErrorKind::Input,
                "calibration.per_channel: tensor " + in_quotes(name) +
                    " has other channels in other samples, expected as many in each");
  }
  std::vector<Range> out;
  for (const kernels::MinMax& channel : extremes.channels()) {
    const float end = std::max(std::abs(channel.min), std::abs(channel.max));
    out.push_back(config.symmetric ? Range{-end, end} : Range{channel.min, channel.max});
  }
  return out;
}

CalibrationCache cache_of_channels(const std::map<std::string, ChannelExtremes>& extremes,
                                   const CalibrationConfig& config) {
  CalibrationCache out;
  for (const auto& [name, tensor] : extremes) {
    const auto ranges = channel_ranges(name, tensor, config);
    if (ranges.empty()) {
      out.without_range.push_back(name);
      continue;
    }
    CachedTensor& cached = out.tensors[name];
    for (const Range& range : ranges) {
      cached.lowest.push_back(range.min);
      cached.highest.push_back(range.max);
    }
  }
  return out;
}

bool counts_in_peer_bins(const Config& config) {
  const CalibrationMethod method = config.calibration.method;
  if (method == CalibrationMethod::Distribution) return true;
  return config.preset == Preset::OnnxRuntime &&
         (method == CalibrationMethod::Percentile || method == CalibrationMethod::Entropy);
}

void check_cache_options(const CalibrationConfig& config, bool is_part) {
  if (!config.cache) return;
  if (is_part) {
    throw Error(ErrorKind::Usage,
                "calibration.cache: holds ranges over all samples, expected none with --shard",
                "qtool calibrate --export onnxruntime writes it from the merged table");
  }
  if (config.method == CalibrationMethod::Entropy) require_enough_bins(config);
  if (config.method == CalibrationMethod::Distribution) require_spread_bins(config);
}

CalibrationCache cache_of_peer_bins(const Model& model, const std::vector<std::string>& tensors,
                                    const std::vector<std::size_t>& samples,
                                    const SampleFolder& folder, const Config& config,
                                    const Progress& progress) {
  const CalibrationConfig& calibration = config.calibration;
  const int threads = threads_of(config);
  const PeerCollection wanted{.tensors = tensors,
                              .of = peer_histogram_for(calibration),
                              .bins = static_cast<std::size_t>(calibration.num_bins),
                              .samples = samples,
                              .threads = threads,
                              .allow_nonfinite = calibration.allow_nonfinite};
  const auto histograms = collect_peer_histograms(model, wanted, folder, progress);
  CalibrationCache out =
      calibration.method == CalibrationMethod::Distribution
          ? spreads_of(histograms)
          : cache_of(peer_ranges(histograms, calibration, threads), {}, calibration.method);
  for (auto& [name, tensor] : out.tensors) add_counts(tensor, histograms.at(name));
  for (const std::string& name : tensors) {
    if (!out.tensors.contains(name)) out.without_range.push_back(name);
  }
  return out;
}

}  // namespace qtool
