#include "pipeline/float16.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "float16/check_names.h"
#include "float16/lowering.h"
#include "float16/planner.h"
#include "model/ir_version.h"
#include "pipeline/float16_auto.h"
#include "pipeline/model_run.h"
#include "pipeline/output_check.h"
#include "preprocess/passes.h"
#include "preprocess/preprocess.h"

namespace qtool {
namespace {

/// The first opset whose operators take bfloat16.
constexpr std::int64_t kFirstWithBFloat16 = 13;

/// One run of `float16`: the stages in order, each handing its result to the next.
class Float16Run : ModelRun<Float16Report> {
 public:
  Float16Run(const Config& config, const Float16Options& options, const RunContext& context)
      : ModelRun(config, context), options_(options) {}

  Float16Report run();

 private:
  Model load();
  void prepare(Model& model);
  void plan(const Model& model);
  void warn_of_plan();
  Kernels kernels() const;
  void check(const PendingModel& pending);

  const Float16Options& options_;
};

Float16Report Float16Run::run() {
  require_gate_data(config_);
  require_search_data(config_);
  Model model = timed("load", [&] { return load(); });
  timed("infer types", [&] { prepare(model); });
  timed("plan", [&] { plan(model); });
  if (config_.dry_run) return std::move(report_);
  Model converted = timed("rewrite", [&] { return lower_float16(std::move(model), report_.plan); });
  raise_ir_version(converted);
  report_.weights_after = summarize(converted).weights;
  PendingModel pending = timed("write", [&] { return write_model(converted, config_); });
  converted = Model();
  timed("load check", [&] { load_check(pending, "converted", kernels()); });
  timed("check", [&] { check(pending); });
  timed("verify", [&] { verify(pending); });
  publish(pending, config_, manifest_beside_output(report_));
  return std::move(report_);
}

Model Float16Run::load() {
  Model model = read();
  if (model.graph().output_size() == 0)
    throw Error(ErrorKind::Input, fmt::format("{}: has no outputs, expected one or more", input()));
  report_.weights_before = summarize(model).weights;
  check_float16_names(model, config_.float16);
  return model;
}

/// The graph stays as it is, but for functions, which have no types of their own.
void Float16Run::prepare(Model& model) {
  inline_functions(model);
  rename_shadowing_values(model);
  if (config_.float16.type == "bfloat16" && model.opset() < kFirstWithBFloat16)
    upgrade_opset(model, kFirstWithBFloat16);
  infer_shapes(model, report_.notes);
  report_.opset_after = model.opset();
}

void Float16Run::plan(const Model& model) {
  std::set<int> kept;
  if (config_.float16.auto_search) {
    const Float16Search found = search_float16(
        model, config_, [this](const std::string& text) { context_.log.debug("{}", text); });
    kept = found.kept;
    report_.search_trials = found.trial_count;
    if (found.was_cut_short) {
      warn(
          fmt::format("float16.auto: stopped after {} trials; nodes that were not tried by "
                      "themselves stay in float32",
                      found.trial_count));
    }
  }
  report_.plan = plan_float16(model, config_.float16, kept);
  for (const PlannedValue& value : report_.plan.values)
    report_.stored_weights += value.is_constant && value.wants_short;
  warn_of_plan();
}

void Float16Run::warn_of_plan() {
  const Float16Plan& plan = report_.plan;
  if (plan.short_nodes == 0 && report_.stored_weights == 0) {
    warn(fmt::format("{}: nothing was converted: it has no float32 that can be {}", input(),
                     config_.float16.type));
  }
  std::vector<std::string> names;
  double largest = 0;
  for (const ClampedWeight& weight : plan.clamped) {
    if (weight.values.above == 0) continue;
    names.push_back(weight.name);
    largest = std::max(largest, weight.values.largest);
  }
  if (names.empty()) return;
  warn(fmt::format("{}: clamped at {:.6g}: values up to {:.6g} in {} {}: {}{}", input(),
                   plan.narrowing.max_finite, largest, names.size(),
                   names.size() == 1 ? "tensor" : "tensors", printable(names.front()),
                   names.size() == 1 ? "" : " …"));
}

/// ONNX Runtime has few kernels for bfloat16 on CPUs; it finds faults of types before it looks for
/// them.
Kernels Float16Run::kernels() const {
  return config_.float16.type == "bfloat16" ? Kernels::MayBeMissing : Kernels::AsForSource;
}

void Float16Run::check(const PendingModel& pending) {
  const bool is_asked = options_.check_samples.has_value();
  if (report_.load_check != "loads" && !is_asked) return;
  report_.check = check_float16_model(
      *config_.model.input, pending.path(), config_,
      options_.check_samples.value_or(default_output_checks(report_.input_bytes)));
  if (!report_.check.note.empty()) warn("the result was not run: " + report_.check.note);
  for (const TensorDistance& output : report_.check.outputs) {
    if (output.nonfinite == 0) continue;
    warn(fmt::format(
        "output '{}' has {} that are not finite where the source model's are; "
        "float16.auto finds the nodes that must stay in float32",
        printable(output.name),
        output.nonfinite == 1 ? "1 value" : fmt::format("{} values", output.nonfinite)));
  }
}

}  // namespace

Float16Report run_float16(const Config& config, const Float16Options& options,
                          const RunContext& context) {
  return Float16Run(config, options, context).run();
}

}  // namespace qtool
