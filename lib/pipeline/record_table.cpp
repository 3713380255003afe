#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/sha256.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "calibrate/table_merge.h"
#include "model/messages.h"
#include "model/model.h"
#include "pipeline/cache_content.h"
#include "pipeline/calibrate.h"
#include "pipeline/calibration_samples.h"
#include "pipeline/model_file.h"
#include "pipeline/prepare.h"
#include "pipeline/publish_table.h"
#include "pipeline/table_content.h"
#include "quantize/measurable.h"

namespace qtool {
namespace {

std::string names_sha256(const SampleFolder& folder) {
  Sha256 hash;
  for (std::size_t i = 0; i < folder.size(); ++i) {
    hash.update(folder.name(i));
    hash.update(std::string_view("\0", 1));
  }
  return hash.hex_digest();
}

std::vector<std::size_t> samples_of(const std::optional<Shard>& shard, std::size_t total) {
  const Shard part = shard.value_or(Shard{});
  std::vector<std::size_t> out;
  for (std::uint64_t i = part.index; i < total; i += part.count) out.push_back(i);
  return out;
}

/// One run of `calibrate` over samples: the stages in order, each handing its result to the next.
class RecordRun {
 public:
  RecordRun(const Config& config, const RecordOptions& options, const RunContext& context)
      : config_(config), options_(options), context_(context) {
    report_.provenance = current_provenance();
    report_.config = config;
    report_.form = "record";
    report_.shard = options.shard;
    report_.has_channel_maxima = options.channels.maxima;
    if (options.channels.moments) report_.second_moments = moments_name(*options.channels.moments);
  }

  CalibrateReport run();

 private:
  template <typename Stage>
  auto timed(const char* name, const Stage& stage) {
    return timed_stage(name, report_.seconds, context_.log, stage);
  }
  int threads() const { return config_.threads > 0 ? config_.threads : available_cores(); }
  std::string output() const { return printable(config_.model.output->string()); }
  void warn(const std::string& message) {
    context_.log.warn("{}", message);
    report_.warnings.push_back(message);
  }

  Model load();
  void open(const Model& model);
  std::optional<CalibrationTable> resumed();
  void check_resumed(const CalibrationTable& table) const;
  Progress progress() const;
  CalibrationTable record(const Model& model, const std::optional<CalibrationTable>& before);
  CalibrationCache cache_content(const Model& model, const CalibrationTable& table) const;
  [[noreturn]] void stop(const CalibrationTable& table);

  const Config& config_;
  const RecordOptions& options_;
  const RunContext& context_;
  CalibrateReport report_;
  std::unique_ptr<SampleFolder> folder_;
  std::vector<std::size_t> wanted_;
  std::vector<std::string> tensors_;
  ChannelWork channels_;
  TableOrigin origin_;
};

CalibrateReport RecordRun::run() {
  check_cache_options(config_.calibration, options_.shard.has_value());
  const Model model = timed("load", [&] { return load(); });
  open(model);
  auto before = resumed();
  if (config_.dry_run) {
    report_.sample_count = wanted_.size();
    return std::move(report_);
  }
  CalibrationTable table = timed("calibrate", [&] { return record(model, before); });
  if (before) {
    TableMerge merge;
    merge.add(std::move(*before), output());
    merge.add(std::move(table), output());
    table = merge.take();
  }
  report_.sample_count = table.samples.size();
  if (report_.sample_count < wanted_.size() || interrupted()) stop(table);
  if (table.is_complete()) report_.calibration_sha256 = folder_->sha256();
  publish_table(report_, table_bytes(table));
  if (const auto& cache = config_.calibration.cache) {
    timed("cache",
          [&] { write_file(*cache, calibration_cache_text(cache_content(model, table))); });
  }
  return std::move(report_);
}

CalibrationCache RecordRun::cache_content(const Model& model, const CalibrationTable& table) const {
  if (config_.calibration.per_channel)
    return cache_of_channels(table.channel_extremes, config_.calibration);
  if (counts_in_peer_bins(config_)) {
    return cache_of_peer_bins(model, tensors_, wanted_, *folder_, config_, context_.progress);
  }
  return cache_of_statistics(table.tensors, config_);
}

Model RecordRun::load() {
  const auto& path = *config_.model.input;
  Model model = load_model(path);
  report_.inputs = {{path, sha256_of_file(path), model_file(model).bytes}};
  report_.notes = prepare_for_quantization(model, config_).notes;
  return model;
}

/// Finds out what is to be recorded, and of what the table will say it was.
void RecordRun::open(const Model& model) {
  tensors_ = measurable_tensors(model, config_.quantization);
  channels_ = channels_to_record(model, config_.quantization, options_.channels);
  if (tensors_.empty()) {
    warn(fmt::format("{}: no tensor to record: no node has an 8-bit form",
                     printable(config_.model.input->string())));
  }
  folder_ = open_calibration_samples(config_, model,
                                     [this](const std::string& message) { warn(message); });
  wanted_ = samples_of(options_.shard, folder_->size());
  origin_ = {
      .qtool_version = report_.provenance.qtool_version,
      .onnxruntime_version = report_.provenance.onnxruntime_version,
      .model_sha256 = report_.inputs.front().sha256,
      .preprocess = preprocess_text(config_.preprocess),
      .kind = StatisticsKind::All,
      .has_sample_extremes = config_.calibration.stride || config_.calibration.moving_average,
      .has_channel_extremes = config_.calibration.per_channel,
      .total_samples = folder_->size(),
      .sample_names_sha256 = names_sha256(*folder_)};
  report_.total_samples = folder_->size();
  report_.tensor_count = tensors_.size();
}

/// The table of an earlier run that this one goes on from, and takes its samples off the list.
std::optional<CalibrationTable> RecordRun::resumed() {
  if (!options_.resume || !std::filesystem::exists(*config_.model.output)) return std::nullopt;
  CalibrationTable table = read_table(*config_.model.output);
  check_resumed(table);
  return table;
}

void RecordRun::check_resumed(const CalibrationTable& table) const {
  check_same_origin(table.origin, origin_, output());
  check_tensors(table, tensors_, output());
  if (table.tensors.size() != tensors_.size()) {
    throw Error(ErrorKind::Input, fmt::format("{}: has {} tensors, expected the {} of this run",
                                              output(), table.tensors.size(), tensors_.size()));
  }
  CalibrationResult nothing;
  check_same_channels(table.channels, take_channels(nothing, channels_), output());
  for (const TableSample& sample : table.samples) {
    throw_if_interrupted();
    const std::string what = fmt::format("{}: has sample {}", output(), in_quotes(sample.name));
    if (!std::ranges::binary_search(wanted_, sample.index))
      throw Error(ErrorKind::Input, what + " of another shard, expected the same --shard");
    if (folder_->sha256_of(sample.index) != sample.sha256) {
      throw Error(ErrorKind::Input, what + " with other content, expected that of the folder",
                  "without --resume all samples are run");
    }
  }
}

/// Also tells the log now and then, which is all that a job on another machine shows.
Progress RecordRun::progress() const {
  return [this](std::size_t done, std::size_t total) {
    if (std::has_single_bit(done)) context_.log.debug("{} of {} samples", done, total);
    if (context_.progress) context_.progress(done, total);
  };
}

CalibrationTable RecordRun::record(const Model& model,
                                   const std::optional<CalibrationTable>& before) {
  Collection collection{.tensors = tensors_,
                        .averaged = channels_.tensors,
                        .kind = origin_.kind,
                        .keeps_sample_extremes = origin_.has_sample_extremes,
                        .keeps_channel_extremes = origin_.has_channel_extremes,
                        .samples = {},
                        .threads = threads(),
                        .providers = options_.providers,
                        .keep_on_interrupt = true,
                        .channel_maxima = channels_.maxima,
                        .second_moments = channels_.moments};
  for (const std::size_t sample : wanted_) {
    const bool is_done =
        before && std::ranges::binary_search(before->samples, sample, {}, &TableSample::index);
    if (!is_done) collection.samples.push_back(sample);
  }
  CalibrationResult found;
  found.samples = collection.samples;
  for (const std::string& name : tensors_) found.statistics[name];
  if (!tensors_.empty() && !collection.samples.empty())
    found = collect_statistics(model, collection, *folder_, progress());
  report_.new_sample_count = found.samples.size();
  CalibrationTable out{origin_, {}, {}, take_channels(found, channels_)};
  if (origin_.has_channel_extremes) {
    for (const std::string& name : tensors_)
      out.channel_extremes[name] = std::move(found.channel_extremes[name]);
  }
  out.tensors = std::move(found.statistics);
  for (const std::size_t sample : found.samples)
    out.samples.push_back({sample, folder_->name(sample), folder_->sha256_of(sample)});
  return out;
}

/// Keeps what an interrupted run has done.
void RecordRun::stop(const CalibrationTable& table) {
  if (table.samples.empty()) throw_if_interrupted();
  if (report_.new_sample_count > 0) publish_table(report_, table_bytes(table));
  throw Error(ErrorKind::Interrupted,
              fmt::format("interrupted: {} holds {} of {} samples", output(), table.samples.size(),
                          wanted_.size()),
              "the same command with --resume runs the rest");
}

}  // namespace

CalibrateReport run_record(const Config& config, const RecordOptions& options,
                           const RunContext& context) {
  return RecordRun(config, options, context).run();
}

}  // namespace qtool
