#include "pipeline/calibrated_ranges.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "calibrate/estimate.h"
#include "calibrate/minmax.h"
#include "calibrate/value_function.h"
#include "pipeline/cache_content.h"
#include "pipeline/calibration_samples.h"
#include "pipeline/range_cache.h"
#include "pipeline/table_content.h"
#include "quantize/params.h"
#include "quantize/planner.h"

namespace qtool {
namespace {

bool has_cache(const Config& config) {
  return config.calibration.cache && std::filesystem::exists(*config.calibration.cache);
}

void require_source(const Config& config, bool has_cache) {
  if (config.calibration.data || config.calibration.table || has_cache) return;
  throw Error(
      ErrorKind::Usage,
      fmt::format("calibration.data: is not set and {} gives no ranges, expected a folder of "
                  "samples",
                  printable(config.calibration.cache->string())));
}

/// Finds the ranges of one run; `wanted` says of which tensors.
class Calibration {
 public:
  Calibration(const Model& model, const CalibrationSources& sources);

  CalibratedRanges run();

 private:
  bool take_cache();
  void take_table();
  void measure();
  void measure_statistics(const SampleFolder& folder);
  void measure_in_peer_bins(const SampleFolder& folder);
  void take_statistics(CalibrationResult result);
  void warn_of_missing_peaks(const std::filesystem::path& file);
  void keep(const CalibrationCache& cache);

  const Model& model_;
  const CalibrationSources& sources_;
  const Config& config_;
  std::vector<std::string> tensors_;  ///< whose ranges are wanted
  /// Those of them whose distributions follow from others'; they are not measured.
  std::map<std::string, ValueFunction> functions_;
  Collection wanted_;
  std::size_t averaged_count_ = 0;  ///< of them, those whose means are wanted
  CalibratedRanges out_;
};

Calibration::Calibration(const Model& model, const CalibrationSources& sources)
    : model_(model), sources_(sources), config_(sources.config) {
  Measurements wanted = Planner(config_.quantization, config_.preset).measurements(model);
  tensors_ = std::move(wanted.tensors);
  averaged_count_ = wanted.averaged.size();
  wanted_.averaged = std::move(wanted.averaged);
  wanted_.channel_maxima = !wanted.peaked.empty();
  for (AveragedTensor& tensor : wanted.peaked) {
    if (std::ranges::find(wanted_.averaged, tensor.name, &AveragedTensor::name) ==
        wanted_.averaged.end())
      wanted_.averaged.push_back(std::move(tensor));
  }
  wanted_.kind = statistics_for(config_.calibration);
  wanted_.keeps_order = config_.preset == Preset::OnnxRuntime;
  wanted_.keeps_sample_extremes = needs_sample_extremes(config_.calibration);
  wanted_.threads = config_.threads > 0 ? config_.threads : available_cores();
  if (wanted_.kind == StatisticsKind::Distribution && !wanted_.keeps_sample_extremes)
    functions_ = value_functions(model, tensors_);
  std::ranges::copy_if(tensors_, std::back_inserter(wanted_.tensors),
                       [&](const std::string& name) { return !functions_.contains(name); });
}

CalibratedRanges Calibration::run() {
  if (take_cache()) return std::move(out_);
  require_source(config_, /*has_cache=*/false);
  if (config_.calibration.table)
    take_table();
  else
    measure();
  return std::move(out_);
}

/// Whether there is a cache that serves. It holds no means, so that biases are not corrected.
bool Calibration::take_cache() {
  auto cache = read_range_cache(config_, sources_.warn);
  if (!cache) return false;
  out_.source = CalibrationSource::Cache;
  out_.sha256 = std::move(cache->sha256);
  out_.ranges = take_ranges(cache->content, tensors_, config_, sources_.warn);
  if (averaged_count_ > 0) {
    sources_.warn(fmt::format("{}: holds no means of channels: biases are not corrected",
                              printable(config_.calibration.cache->string())));
  }
  warn_of_missing_peaks(*config_.calibration.cache);
  return true;
}

void Calibration::take_table() {
  TableContent found = take_from_table(config_, sources_.model_sha256, wanted_, sources_.warn);
  out_.source = CalibrationSource::Table;
  out_.sample_count = found.sample_count;
  out_.sha256 = std::move(found.sha256);
  take_statistics(std::move(found.result));
  warn_of_missing_peaks(*config_.calibration.table);
}

/// Without them a channel counts as one that takes any integer.
void Calibration::warn_of_missing_peaks(const std::filesystem::path& file) {
  if (!wanted_.channel_maxima || !out_.peaks.empty()) return;
  sources_.warn(fmt::format(
      "{}: holds no largest magnitudes of channels: weights lose more precision than they need to; "
      "'calibrate --per-channel-statistics' records them",
      printable(file.string())));
}

void Calibration::measure() {
  const auto folder = open_calibration_samples(config_, model_, sources_.warn);
  if (counts_in_peer_bins(config_)) {
    measure_in_peer_bins(*folder);
  } else {
    measure_statistics(*folder);
  }
  out_.sample_count = folder->size();
  out_.sha256 = folder->sha256();
}

void Calibration::measure_statistics(const SampleFolder& folder) {
  wanted_.samples = all_samples(folder);
  wanted_.batch = calibration_batch(config_, model_, sources_.warn);
  CalibrationResult result;
  if (!wanted_.tensors.empty())
    result = collect_statistics(model_, wanted_, folder, sources_.progress);
  const auto batch_size = static_cast<std::size_t>(wanted_.batch.size);
  if (batch_size > 1 && result.run_count > (folder.size() - 1) / batch_size + 1) {
    sources_.warn(fmt::format(
        "calibration.batch: {} samples took {} runs: those of different dimensions are not joined",
        folder.size(), result.run_count));
  }
  take_statistics(std::move(result));
}

void Calibration::measure_in_peer_bins(const SampleFolder& folder) {
  if (config_.calibration.batch.value_or(1) > 1) {
    throw Error(ErrorKind::Usage,
                "calibration.batch: bins as ONNX Runtime has them count samples one by one");
  }
  const auto samples = all_samples(folder);
  if (!wanted_.averaged.empty()) {
    const Collection channels{.tensors = {},
                              .averaged = wanted_.averaged,
                              .keeps_order = true,
                              .samples = samples,
                              .threads = wanted_.threads,
                              .channel_maxima = wanted_.channel_maxima};
    const auto found = collect_statistics(model_, channels, folder, sources_.progress);
    out_.means = channel_means(found.channel_sums);
    out_.peaks = channel_peaks(found.channel_maxima);
  }
  const CalibrationCache cache =
      cache_of_peer_bins(model_, tensors_, samples, folder, config_, sources_.progress);
  out_.ranges = take_ranges(cache, tensors_, config_, sources_.warn);
  keep(cache);
}

void Calibration::take_statistics(CalibrationResult result) {
  const CalibrationConfig& calibration = config_.calibration;
  for (const auto& [name, function] : functions_) {
    if (const auto source = result.statistics.find(function.source);
        source != result.statistics.end())
      result.statistics[name] = statistics_of(function, source->second);
  }
  out_.ranges = estimate_ranges(result.statistics, calibration,
                                activation_levels(config_.quantization), wanted_.threads);
  out_.means = channel_means(result.channel_sums);
  out_.peaks = channel_peaks(result.channel_maxima);
  keep(cache_of(out_.ranges, tensors_, calibration.method));
}

void Calibration::keep(const CalibrationCache& cache) {
  if (config_.calibration.cache) out_.new_cache = calibration_cache_text(cache);
}

}  // namespace

void require_calibration_source(const Config& config) { require_source(config, has_cache(config)); }

bool measures_ranges(const Config& config) {
  return config.calibration.data && !config.calibration.table && !has_cache(config);
}

CalibratedRanges calibrated_ranges(const Model& model, const CalibrationSources& sources) {
  return Calibration(model, sources).run();
}

}  // namespace qtool
