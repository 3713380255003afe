#include "calibrate/coverage.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/sha256.h"
#include "base/text.h"
#include "calibrate/estimate.h"
#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "model/graph_view.h"
#include "model/messages.h"
#include "model/model.h"
#include "pipeline/calibrate.h"
#include "pipeline/coverage_gates.h"
#include "pipeline/coverage_tensors.h"
#include "pipeline/held_out_data.h"
#include "pipeline/model_file.h"
#include "pipeline/prepare.h"
#include "pipeline/table_content.h"
#include "quantize/params.h"

namespace qtool {
namespace {

constexpr std::size_t kWorstOfScenario = 5;

using Values = std::map<std::string, HeldOutValues>;

/// Refuses a table that names what the model does not have: taps on it would be a defect.
void check_values(const CalibrationTable& table, const onnx::GraphProto& graph,
                  const std::string& where) {
  std::set<std::string_view> values;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& input : each.input()) values.insert(input.name());
    for (const auto& node : each.node()) values.insert(node.output().begin(), node.output().end());
  });
  for (const auto& [name, ignored] : table.tensors) {
    if (values.contains(name)) continue;
    throw Error(ErrorKind::Input, fmt::format("{}: has tensor {}, expected values of the model",
                                              where, in_quotes(name)));
  }
}

/// One run of `calibrate --coverage`: the stages in order, each handing its result to the next.
class CoverageRun {
 public:
  CoverageRun(const Config& config, const std::vector<std::filesystem::path>& folders,
              const RunContext& context)
      : config_(config),
        folders_(folders),
        context_(context),
        threads_(config.threads > 0 ? config.threads : available_cores()) {
    report_.provenance = current_provenance();
    report_.config = config;
  }

  CoverageReport run();

 private:
  template <typename Stage>
  auto timed(const char* name, const Stage& stage) {
    return timed_stage(name, report_.seconds, context_.log, stage);
  }
  void warn(const std::string& message) {
    context_.log.warn("{}", message);
    report_.warnings.push_back(message);
  }

  Model load();
  void read_table(const Model& model);
  void open(const Model& model);
  void derive_ranges();
  Values measure(const Model& model);
  Values measure(const Model& model, const HeldOutData::Scenario& scenario);
  TensorCoverage judge(const std::string& name, const HeldOutValues& values) const;
  SampledValue calibrated(const Extreme& extreme) const;
  void warn_of_unseen();

  const Config& config_;
  const std::vector<std::filesystem::path>& folders_;
  const RunContext& context_;
  int threads_;
  CoverageReport report_;
  CalibrationTable table_;
  TensorRanges ranges_;
  const std::function<void(const std::string&)> warn_ = [this](const std::string& message) {
    warn(message);
  };
  HeldOutData data_;
};

CoverageReport CoverageRun::run() {
  const Model model = timed("load", [&] { return load(); });
  timed("read the table", [&] { read_table(model); });
  open(model);
  if (config_.dry_run) return std::move(report_);
  timed("derive ranges", [&] { derive_ranges(); });
  const Values values = timed("run", [&] { return measure(model); });
  for (const auto& [name, of_tensor] : values) report_.tensors.push_back(judge(name, of_tensor));
  sort_worst_first(report_.tensors);
  warn_of_unseen();
  report_.gates = judge_coverage(config_.calibration, report_.tensors);
  return std::move(report_);
}

Model CoverageRun::load() {
  const auto& path = *config_.model.input;
  Model model = load_model(path);
  report_.model = {path, sha256_of_file(path), model_file(model).bytes};
  prepare_for_quantization(model, config_);
  return model;
}

void CoverageRun::read_table(const Model& model) {
  const auto& path = *config_.calibration.table;
  const std::string where = printable(path.string());
  const std::string bytes = read_file(path);
  table_ = parse_table(bytes, where);
  check_table(table_,
              {.model_sha256 = report_.model.sha256,
               .preprocess = preprocess_text(config_.preprocess),
               .kind = statistics_for(config_.calibration),
               .tensors = {}},
              where);
  check_values(table_, model.graph(), where);
  if (!table_.is_complete()) {
    warn(fmt::format("{}: holds {} of {} samples", where, table_.samples.size(),
                     table_.origin.total_samples));
  }
  report_.table = digest_of(path, bytes);
  report_.table_samples = table_.samples.size();
  report_.tensor_count = table_.tensors.size();
}

void CoverageRun::open(const Model& model) {
  data_.open(folders_, config_, model, warn_);
  for (const auto& scenario : data_.scenarios()) {
    report_.scenarios.push_back({.data = scenario.path,
                                 .sample_count = scenario.folder->size(),
                                 .sha256 = {},
                                 .worst = {}});
  }
}

void CoverageRun::derive_ranges() {
  const QuantizedLevels levels = activation_levels(config_.quantization);
  ranges_ = estimate_ranges(table_.tensors, config_.calibration, levels, threads_);
  for (auto& [name, range] : ranges_) range = quantized_range(range, levels);
}

/// The held-out values of all scenarios, whose samples are numbered through.
Values CoverageRun::measure(const Model& model) {
  Values all;
  auto out = report_.scenarios.begin();
  for (const auto& scenario : data_.scenarios()) {
    const Values found = measure(model, scenario);
    out->worst = worst_tensors(found, ranges_, kWorstOfScenario);
    out->sha256 = scenario.folder->sha256();
    ++out;
    for (const auto& [name, values] : found) all[name].merge(values);
  }
  return all;
}

Values CoverageRun::measure(const Model& model, const HeldOutData::Scenario& scenario) {
  CoveragePass pass{
      .tensors = {}, .ranges = ranges_, .first_sample = scenario.first, .threads = threads_};
  for (const auto& [name, ignored] : table_.tensors) pass.tensors.push_back(name);
  if (pass.tensors.empty()) return {};
  const Progress progress = [&](std::size_t done, std::size_t) {
    if (context_.progress) context_.progress(scenario.first + done, data_.sample_count());
  };
  return observe_held_out(model, pass, *scenario.folder, progress);
}

SampledValue CoverageRun::calibrated(const Extreme& extreme) const {
  const auto sample =
      std::ranges::lower_bound(table_.samples, extreme.sample, {}, &TableSample::index);
  return {extreme.value, sample->name, {}};
}

TensorCoverage CoverageRun::judge(const std::string& name, const HeldOutValues& values) const {
  const TensorStatistics& statistics = values.statistics;
  TensorCoverage out;
  out.name = name;
  out.value_count = statistics.value_count;
  out.nonfinite_count = statistics.nonfinite_count;
  if (const TensorStatistics& before = table_.tensors.at(name); before.value_count > 0) {
    out.calibration_min = calibrated(before.min);
    out.calibration_max = calibrated(before.max);
  }
  const auto range = ranges_.find(name);
  if (range != ranges_.end()) out.range = range->second;
  if (statistics.value_count == 0) return out;
  out.min = data_.sampled(statistics.min.value, statistics.min.sample);
  out.max = data_.sampled(statistics.max.value, statistics.max.sample);
  if (!out.range) return out;
  out.clipped_count = values.clipped_count;
  out.clipped = values.clipped();
  out.range_used = range_used(statistics, *out.range);
  return out;
}

/// Tensors of which calibration saw nothing stay in float, which no clipped share would tell.
void CoverageRun::warn_of_unseen() {
  const auto is_unseen = [](const TensorCoverage& tensor) {
    return tensor.value_count > 0 && !tensor.range;
  };
  const auto count = std::ranges::count_if(report_.tensors, is_unseen);
  if (count == 0) return;
  const auto first = std::ranges::find_if(report_.tensors, is_unseen);
  warn(fmt::format("{}: has no value of {}{}, expected values of every tensor of the held-out data",
                   printable(config_.calibration.table->string()), in_quotes(first->name),
                   count == 1 ? "" : fmt::format(" and {} more tensors", count - 1)));
}

}  // namespace

CoverageReport run_coverage(const Config& config, const std::vector<std::filesystem::path>& data,
                            const RunContext& context) {
  if (!config.calibration.table) {
    throw Error(ErrorKind::Usage,
                "calibrate: no calibration table, expected --calib-table FILE or the key "
                "calibration.table");
  }
  return CoverageRun(config, data, context).run();
}

}  // namespace qtool
