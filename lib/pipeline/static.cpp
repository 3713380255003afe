#include "pipeline/static.h"

#include <fmt/format.h>
#include <utility>

#include "base/heap.h"
#include "base/text.h"
#include "inspect/decisions.h"
#include "model/save.h"
#include "pipeline/calibrated_ranges.h"
#include "pipeline/lowered_model.h"
#include "pipeline/model_run.h"
#include "pipeline/prediction.h"
#include "pipeline/prepare.h"
#include "quantize/equalization.h"
#include "quantize/existing_pairs.h"
#include "quantize/ineffective_options.h"
#include "quantize/node_filter.h"
#include "quantize/planner.h"
#include "quantize/tensor_overrides.h"

namespace qtool {
namespace {

/// One run of `static`: the stages in order, each handing its result to the next.
class StaticRun : ModelRun<StaticReport> {
 public:
  StaticRun(const Config& config, const RunContext& context)
      : ModelRun(config, context), planner_(config_.quantization, config_.preset) {
    report_.preset_reason = context.preset_reason;
  }

  StaticReport run();

 private:
  Model load();
  void prepare(Model& model);
  void equalize(Model& model);
  void warn_of_existing_quantization(const Model& model);
  CalibratedRanges calibrate(const Model& model);
  void plan(const Model& model, const CalibratedRanges& calibration);
  /// The cost table and the runtime at hand are those that this placement is for.
  bool predicts_gain() const { return planner_.placement().runtime == kCpuProvider; }
  void predict(const Model& original, const Model& prepared);

  Planner planner_;
};

StaticReport StaticRun::run() {
  require_gate_data(config_);
  require_calibration_source(config_);
  Model model = timed("load", [&] { return load(); });
  const Model original = predicts_gain() ? model.clone() : Model();
  timed("preprocess", [&] { prepare(model); });
  if (predicts_gain()) timed("predict", [&] { predict(original, model); });
  if (config_.dry_run) {
    report_.plan = planner_.draft(model);
    report_.outcome = outcome_of(model.graph(), report_.plan);
    return std::move(report_);
  }
  const auto calibration = timed("calibrate", [&] { return calibrate(model); });
  timed("plan", [&] { plan(model, calibration); });
  const auto data = verification_data(config_);
  Model reference = data ? model.clone() : Model();
  Model quantized = timed(
      "rewrite", [&] { return lowered_model(std::move(model), report_.plan, planner_, config_); });
  report_.opset_after = quantized.opset();
  report_.kernels = forecast_kernels(quantized);
  PendingModel pending = timed("write", [&] { return write_model(quantized, config_); });
  quantized = Model();
  timed("load check", [&] { load_check(pending, "quantized"); });
  timed("verify", [&] {
    verify(pending);
    if (data)
      report_.regions = measure_regions(std::move(reference), pending.path(), *data, config_);
  });
  publish(pending, config_, manifest_beside_output(report_), calibration.new_cache);
  return std::move(report_);
}

Model StaticRun::load() {
  Model model = read();
  if (config_.quantization.refuse_quantized) refuse_quantized(model);
  warn_of_existing_quantization(model);
  check_tensor_overrides(GraphView(model.graph()), config_.quantization);
  for (const std::string& warning :
       check_node_lists(model.graph(), config_.quantization, config_.preset))
    warn(warning);
  return model;
}

/// Pairs that the model brings are kept, which a user who expected a float model should know.
void StaticRun::warn_of_existing_quantization(const Model& model) {
  if (!carries_pairs(model)) return;
  warn(
      fmt::format("{}: is quantized already, at least in parts: its pairs of QuantizeLinear and "
                  "DequantizeLinear are kept as they are{}",
                  input(),
                  config_.preset == Preset::OnnxRuntime
                      ? ""
                      : ", and other nodes join them only where nodes_to_quantize or "
                        "op_types_to_quantize asks for it"));
}

void StaticRun::prepare(Model& model) {
  report_.preprocess = prepare_for_quantization(model, config_);
  equalize(model);
  report_.opset_after = model.opset();
}

/// Ranges of a table or a cache are those of the model as it was.
void StaticRun::equalize(Model& model) {
  if (!equalizes_layers(config_.quantization, planner_.placement()) || config_.calibration.table ||
      config_.calibration.cache)
    return;
  report_.equalized = equalize_layers(model, config_.quantization, planner_.placement());
}

void StaticRun::predict(const Model& original, const Model& prepared) {
  constexpr double kNoGain = 0.97;
  // Of a smaller model there is nothing to gain anyway, which the report says.
  constexpr double kLeastUs = 200;
  report_.predicted = qtool::predict(config_, original, prepared, planner_, report_.input_bytes);
  const Prediction& found = report_.predicted;
  if (!found.is_known() || found.ratio() < kNoGain || found.float_us() < kLeastUs) return;
  warn(fmt::format("{}: integers are not expected to be faster: {:.2f} of the float model's time",
                   input(), found.ratio()));
}

CalibratedRanges StaticRun::calibrate(const Model& model) {
  CalibratedRanges found =
      calibrated_ranges(model, {.config = config_,
                                .model_sha256 = report_.input_sha256,
                                .warn = [this](const std::string& message) { warn(message); },
                                .progress = context_.progress});
  report_.calibration_source = found.source;
  report_.sample_count = found.sample_count;
  report_.calibration_sha256 = found.sha256;
  return found;
}

void StaticRun::plan(const Model& model, const CalibratedRanges& calibration) {
  report_.plan = planner_.plan(model, calibration.ranges, calibration.means, calibration.peaks);
  // Its threads looked at all weights as floats.
  trim_heap();
  for (const std::string& warning : report_.plan.warnings) warn(warning);
  for (const std::string& line :
       ineffective_options(model.graph(), report_.plan, config_.quantization, config_.preset))
    warn(line);
  report_.outcome = outcome_of(model.graph(), report_.plan);
  if (all_tensors(report_.plan).empty() && report_.outcome.quantized_nodes == 0) {
    warn(
        fmt::format("{}: nothing was quantized: no node has an 8-bit form here; 'qtool inspect' "
                    "says why for each",
                    input()));
  }
}

}  // namespace

StaticReport run_static(const Config& config, const RunContext& context) {
  return StaticRun(config, context).run();
}

}  // namespace qtool
