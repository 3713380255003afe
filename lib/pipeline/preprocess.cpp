#include "pipeline/preprocess.h"

#include "model/node_count.h"
#include "pipeline/model_run.h"
#include "pipeline/preprocess_check.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// One run of `preprocess`: the stages in order, each handing its result to the next.
class PreprocessRun : ModelRun<PreprocessResult> {
 public:
  PreprocessRun(const Config& config, const PreprocessOptions& options, const RunContext& context)
      : ModelRun(config, context), options_(options) {}

  PreprocessResult run();

 private:
  Model load();
  void prepare(Model& model);
  void check(const Model& model);
  void turn_layout(Model& model);

  const PreprocessOptions& options_;
};

PreprocessResult PreprocessRun::run() {
  require_gate_data(config_);
  Model model = timed("load", [&] { return load(); });
  timed("preprocess", [&] { prepare(model); });
  if (config_.dry_run) return std::move(report_);
  timed("check", [&] { check(model); });
  turn_layout(model);
  PendingModel pending = timed("write", [&] { return write_model(model, config_); });
  model = Model();
  timed("load check", [&] { load_check(pending, "preprocessed"); });
  timed("verify", [&] { verify(pending); });
  publish(pending, config_, manifest_beside_output(report_));
  return std::move(report_);
}

Model PreprocessRun::load() {
  Model model = read();
  report_.nodes_before = node_count(model.graph());
  return model;
}

void PreprocessRun::prepare(Model& model) {
  report_.preprocess = preprocess(model, config_.preprocess);
  for (const std::string& note : report_.preprocess.notes) warn(note);
  report_.opset_after = model.opset();
  report_.nodes_after = node_count(model.graph());
}

void PreprocessRun::check(const Model& model) {
  report_.check = check_preprocessed(
      *config_.model.input, model, config_,
      options_.check_samples.value_or(default_check_samples(report_.input_bytes)));
  if (!report_.check.note.empty()) warn("the result was not checked: " + report_.check.note);
}

/// Comes behind the check: then callers give and take other shapes.
void PreprocessRun::turn_layout(Model& model) {
  const PreprocessConfig& c = config_.preprocess;
  if (c.inputs_to_make_channel_last.empty() && c.outputs_to_make_channel_last.empty()) return;
  make_channel_last(model, c);
  infer_shapes(model, report_.warnings);
  report_.nodes_after = node_count(model.graph());
}

}  // namespace

PreprocessResult run_preprocess(const Config& config, const PreprocessOptions& options,
                                const RunContext& context) {
  return PreprocessRun(config, options, context).run();
}

}  // namespace qtool
