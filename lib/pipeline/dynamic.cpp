#include "pipeline/dynamic.h"

#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/ir_version.h"
#include "model/save.h"
#include "pipeline/model_run.h"
#include "pipeline/prepare.h"
#include "quantize/dynamic/lowering.h"
#include "quantize/dynamic/planner.h"
#include "quantize/dynamic/weight_store.h"
#include "quantize/node_filter.h"
#include "quantize/onnxruntime/dynamic_plan.h"
#include "quantize/op_rules.h"
#include "quantize/tensor_overrides.h"

namespace qtool {
namespace {

/// What the lists of the report are made from.
PlanOutcome outcome_of(const DynamicPlan& plan) {
  PlanOutcome out;
  out.quantized_nodes = plan.quantized_nodes;
  out.float_nodes = plan.left.size();
  out.left = plan.left;
  return out;
}

/// With the defaults that only this command has. What activations are is known at run time only,
/// and they fill all 8 bits: where int8 weights are added in pairs of 16 bits, 7 of theirs always
/// fit.
Config completed(Config config) {
  QuantizationConfig& quantization = config.quantization;
  auto& const_b_only = quantization.extra_options.mat_mul_const_b_only;
  const_b_only = const_b_only.value_or(true);
  if (placement_for(config.preset).adds_in_pairs && quantization.weight_type == QuantType::Int8)
    quantization.reduce_range = true;
  return config;
}

/// One run of `dynamic`: the stages in order, each handing its result to the next.
class DynamicRun : ModelRun<DynamicReport> {
 public:
  DynamicRun(const Config& config, const DynamicOptions& options, const RunContext& context)
      : ModelRun(completed(config), context), options_(options) {}

  DynamicReport run();

 private:
  bool follows_onnxruntime() const { return config_.preset == Preset::OnnxRuntime; }

  Model load();
  void plan(Model& model);
  PendingModel write(const Model& quantized) const;
  void check(const PendingModel& pending);

  const DynamicOptions options_;
};

DynamicReport DynamicRun::run() {
  require_gate_data(config_);
  Model model = timed("load", [&] { return load(); });
  timed("preprocess", [&] {
    report_.preprocess = prepare_for_dynamic(model, config_);
    report_.opset_after = model.opset();
  });
  timed("plan", [&] { plan(model); });
  if (config_.dry_run) {
    for (StoredWeight& weight : report_.plan.weights) weight.values.reset();
    return std::move(report_);
  }
  Model quantized = timed("rewrite", [&] { return lower_dynamic(std::move(model), report_.plan); });
  raise_ir_version(quantized);
  report_.weights_after = summarize(quantized).weights;
  PendingModel pending = timed("write", [&] { return write(quantized); });
  quantized = Model();
  timed("load check", [&] { load_check(pending, "quantized"); });
  timed("check", [&] { check(pending); });
  timed("verify", [&] { verify(pending); });
  publish(pending, config_, manifest_beside_output(report_));
  return std::move(report_);
}

Model DynamicRun::load() {
  Model model = read();
  if (model.graph().output_size() == 0)
    throw Error(ErrorKind::Input, fmt::format("{}: has no outputs, expected one or more", input()));
  report_.weights_before = summarize(model).weights;
  check_tensor_overrides(GraphView(model.graph()), config_.quantization);
  for (const std::string& warning :
       check_node_lists(model.graph(), config_.quantization, config_.preset))
    warn(warning);
  return model;
}

void DynamicRun::plan(Model& model) {
  if (follows_onnxruntime()) {
    const GemmDecomposition gemms = decompose_gemm(model, config_.quantization);
    report_.plan = plan_dynamic_as_onnxruntime(model, gemms, config_.quantization);
  } else {
    report_.plan = plan_dynamic(model, config_.quantization);
  }
  for (const std::string& warning : report_.plan.warnings) warn(warning);
  report_.outcome = outcome_of(report_.plan);
  if (report_.plan.quantized_nodes == 0) {
    warn(
        fmt::format("{}: nothing was quantized: no node has a form that is quantized at run time; "
                    "the report says why for each",
                    input()));
  }
}

PendingModel DynamicRun::write(const Model& quantized) const {
  return write_model(quantized, config_, [&](std::size_t number) {
    return make_integers(quantized, report_.plan.weights[number]);
  });
}

/// A run proves more than loading, and is left out with it.
void DynamicRun::check(const PendingModel& pending) {
  constexpr double kLeastCosine = 0.9;
  const std::size_t fallback =
      report_.load_check == "loads" ? default_output_checks(report_.input_bytes) : 0;
  report_.check = check_output(*config_.model.input, pending.path(), config_,
                               options_.check_samples.value_or(fallback));
  if (!report_.check.note.empty()) warn("the result was not run: " + report_.check.note);
  if (report_.check.cosine.value_or(1) < kLeastCosine) {
    warn(
        fmt::format("{}: on a made-up sample the cosine to the model's output is {:.4f}; real "
                    "samples (--data) tell whether that matters",
                    printable(config_.model.output->string()), *report_.check.cosine));
  }
}

}  // namespace

DynamicReport run_dynamic(const Config& config, const DynamicOptions& options,
                          const RunContext& context) {
  return DynamicRun(config, options, context).run();
}

}  // namespace qtool
