#include "pipeline/float16.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "float16/check_names.h"
#include "float16/lowering.h"
#include "float16/planner.h"
#include "model/ir_version.h"
#include "pipeline/float16_auto.h"
#include "pipeline/model_file.h"
#include "pipeline/output_check.h"
#include "pipeline/output_model.h"
#include "pipeline/timed_stage.h"
#include "preprocess/passes.h"
#include "preprocess/preprocess.h"

namespace qtool {
namespace {

/// The first opset whose operators take bfloat16.
constexpr std::int64_t kFirstWithBFloat16 = 13;

/// One run of `float16`: the stages in order, each handing its result to the next.
class Float16Run {
 public:
  Float16Run(const Config& config, const Float16Options& options, const RunContext& context)
      : config_(config), options_(options), context_(context) {
    report_.config = config_;
    report_.provenance = current_provenance();
  }

  Float16Report run();

 private:
  template <typename Stage>
  auto timed(const char* name, const Stage& stage) {
    return timed_stage(name, report_.seconds, context_.log, stage);
  }

  std::string input() const { return printable(config_.model.input->string()); }

  void warn(const std::string& message) {
    context_.log.warn("{}", message);
    report_.warnings.push_back(message);
  }

  Model load();
  void prepare(Model& model);
  void plan(const Model& model);
  void warn_of_plan();
  void load_check(const PendingModel& pending);
  void check(const PendingModel& pending);
  void verify(const PendingModel& pending);

  const Config& config_;
  const Float16Options& options_;
  const RunContext& context_;
  Float16Report report_;
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
  timed("load check", [&] { load_check(pending); });
  timed("check", [&] { check(pending); });
  timed("verify", [&] { verify(pending); });
  publish(pending, config_, manifest_beside_output(report_));
  return std::move(report_);
}

Model Float16Run::load() {
  Model model = load_model(*config_.model.input);
  if (model.graph().output_size() == 0)
    throw Error(ErrorKind::Input, fmt::format("{}: has no outputs, expected one or more", input()));
  report_.input_sha256 = sha256_of_file(*config_.model.input);
  report_.input_bytes = model_file(model).bytes;
  report_.opset_before = model.opset();
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
void Float16Run::load_check(const PendingModel& pending) {
  report_.output_bytes = pending.bytes();
  report_.output_sha256 = pending.sha256();
  const auto kernels =
      config_.float16.type == "bfloat16" ? Kernels::MayBeMissing : Kernels::AsForSource;
  report_.load_check = check_loading(
      pending, config_, "converted", [this](const std::string& message) { warn(message); },
      kernels);
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

void Float16Run::verify(const PendingModel& pending) {
  auto found = verify_output(
      pending, report_.input_bytes, config_, [this](const std::string& message) { warn(message); },
      context_.progress);
  if (!found) return;
  report_.verification = std::move(found->comparison);
  report_.gates = std::move(found->gates);
}

}  // namespace

Float16Report run_float16(const Config& config, const Float16Options& options,
                          const RunContext& context) {
  return Float16Run(config, options, context).run();
}

}  // namespace qtool
