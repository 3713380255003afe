#include "pipeline/preprocess.h"

#include "base/sha256.h"
#include "model/graph_view.h"
#include "pipeline/model_file.h"
#include "pipeline/output_model.h"
#include "pipeline/preprocess_check.h"
#include "pipeline/timed_stage.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

std::size_t node_count(const Model& model) {
  std::size_t count = 0;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    count += static_cast<std::size_t>(graph.node_size());
  });
  return count;
}

/// One run of `preprocess`: the stages in order, each handing its result to the next.
class PreprocessRun {
 public:
  PreprocessRun(const Config& config, const PreprocessOptions& options, const RunContext& context)
      : config_(config), options_(options), context_(context) {
    result_.provenance = current_provenance();
    result_.config = config;
  }

  PreprocessResult run();

 private:
  template <typename Stage>
  auto timed(const char* name, const Stage& stage) {
    return timed_stage(name, result_.seconds, context_.log, stage);
  }
  Model load();
  void prepare(Model& model);
  void check(const Model& model);
  void turn_layout(Model& model);
  void verify(const PendingModel& pending);
  void warn(const std::string& message);

  const Config& config_;
  const PreprocessOptions& options_;
  const RunContext& context_;
  PreprocessResult result_;
};

PreprocessResult PreprocessRun::run() {
  require_gate_data(config_);
  Model model = timed("load", [&] { return load(); });
  timed("preprocess", [&] { prepare(model); });
  if (config_.dry_run) return std::move(result_);
  timed("check", [&] { check(model); });
  turn_layout(model);
  PendingModel pending = timed("write", [&] { return write_model(model, config_); });
  model = Model();
  result_.output_bytes = pending.bytes();
  result_.output_sha256 = pending.sha256();
  timed("load check", [&] {
    result_.load_check = check_loading(pending, config_, "preprocessed",
                                       [&](const std::string& message) { warn(message); });
  });
  timed("verify", [&] { verify(pending); });
  publish(pending, config_, manifest_beside_output(result_));
  return std::move(result_);
}

Model PreprocessRun::load() {
  Model model = load_model(*config_.model.input);
  result_.input_sha256 = sha256_of_file(*config_.model.input);
  result_.input_bytes = model_file(model).bytes;
  result_.opset_before = model.opset();
  result_.nodes_before = node_count(model);
  return model;
}

void PreprocessRun::prepare(Model& model) {
  result_.preprocess = preprocess(model, config_.preprocess);
  for (const std::string& note : result_.preprocess.notes) warn(note);
  result_.opset_after = model.opset();
  result_.nodes_after = node_count(model);
}

void PreprocessRun::check(const Model& model) {
  result_.check = check_preprocessed(
      *config_.model.input, model, config_,
      options_.check_samples.value_or(default_check_samples(result_.input_bytes)));
  if (!result_.check.note.empty()) warn("the result was not checked: " + result_.check.note);
}

/// Comes behind the check: then callers give and take other shapes.
void PreprocessRun::turn_layout(Model& model) {
  const PreprocessConfig& c = config_.preprocess;
  if (c.inputs_to_make_channel_last.empty() && c.outputs_to_make_channel_last.empty()) return;
  make_channel_last(model, c);
  infer_shapes(model, result_.warnings);
  result_.nodes_after = node_count(model);
}

void PreprocessRun::verify(const PendingModel& pending) {
  auto found = verify_output(
      pending, result_.input_bytes, config_, [this](const std::string& message) { warn(message); },
      context_.progress);
  if (!found) return;
  result_.verification = std::move(found->comparison);
  result_.gates = std::move(found->gates);
}

void PreprocessRun::warn(const std::string& message) {
  context_.log.warn("{}", message);
  result_.warnings.push_back(message);
}

}  // namespace

PreprocessResult run_preprocess(const Config& config, const PreprocessOptions& options,
                                const RunContext& context) {
  return PreprocessRun(config, options, context).run();
}

}  // namespace qtool
