#include "pipeline/dynamic.h"

#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "model/ir_version.h"
#include "model/save.h"
#include "pipeline/model_file.h"
#include "pipeline/output_model.h"
#include "pipeline/prepare.h"
#include "pipeline/provenance.h"
#include "pipeline/timed_stage.h"
#include "quantize/dynamic/lowering.h"
#include "quantize/dynamic/planner.h"
#include "quantize/dynamic/weight_store.h"
#include "quantize/node_filter.h"
#include "quantize/onnxruntime/dynamic_plan.h"
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

/// With the defaults that only this command has.
Config completed(Config config) {
  auto& const_b_only = config.quantization.extra_options.mat_mul_const_b_only;
  const_b_only = const_b_only.value_or(true);
  return config;
}

/// One run of `dynamic`: the stages in order, each handing its result to the next.
class DynamicRun {
 public:
  DynamicRun(const Config& config, const DynamicOptions& options, const RunContext& context)
      : config_(completed(config)), options_(options), context_(context) {
    report_.config = config_;
    report_.provenance = current_provenance();
  }

  DynamicReport run();

 private:
  template <typename Stage>
  auto timed(const char* name, const Stage& stage) {
    return timed_stage(name, report_.seconds, context_.log, stage);
  }

  bool follows_onnxruntime() const { return config_.preset == Preset::OnnxRuntime; }
  std::string input() const { return printable(config_.model.input->string()); }

  void warn(const std::string& message) {
    context_.log.warn("{}", message);
    report_.warnings.push_back(message);
  }

  Model load();
  void plan(Model& model);
  PendingModel write(const Model& quantized) const;
  void load_check(const PendingModel& pending);
  void check(const PendingModel& pending);
  void verify(const PendingModel& pending);

  const Config config_;
  const DynamicOptions options_;
  const RunContext& context_;
  DynamicReport report_;
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
  timed("load check", [&] { load_check(pending); });
  timed("check", [&] { check(pending); });
  timed("verify", [&] { verify(pending); });
  publish(pending, config_, manifest_beside_output(report_));
  return std::move(report_);
}

Model DynamicRun::load() {
  Model model = load_model(*config_.model.input);
  if (model.graph().output_size() == 0)
    throw Error(ErrorKind::Input, fmt::format("{}: has no outputs, expected one or more", input()));
  report_.input_sha256 = sha256_of_file(*config_.model.input);
  report_.input_bytes = model_file(model).bytes;
  report_.opset_before = model.opset();
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

void DynamicRun::load_check(const PendingModel& pending) {
  report_.output_bytes = pending.bytes();
  report_.output_sha256 = pending.sha256();
  report_.load_check = check_loading(pending, config_, "quantized",
                                     [this](const std::string& message) { warn(message); });
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

void DynamicRun::verify(const PendingModel& pending) {
  auto found = verify_output(
      pending, report_.input_bytes, config_, [this](const std::string& message) { warn(message); },
      context_.progress);
  if (!found) return;
  report_.verification = std::move(found->comparison);
  report_.gates = std::move(found->gates);
}

}  // namespace

DynamicReport run_dynamic(const Config& config, const DynamicOptions& options,
                          const RunContext& context) {
  return DynamicRun(config, options, context).run();
}

}  // namespace qtool
