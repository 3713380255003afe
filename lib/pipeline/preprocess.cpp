#include "pipeline/preprocess.h"

#include "base/sha256.h"
#include "model/graph_view.h"
#include "pipeline/model_file.h"
#include "pipeline/output_model.h"
#include "pipeline/timed_stage.h"

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
  PreprocessRun(const Config& config, const RunContext& context)
      : config_(config), context_(context) {
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
  void verify(const PendingModel& pending);
  void warn(const std::string& message);

  const Config& config_;
  const RunContext& context_;
  PreprocessResult result_;
};

PreprocessResult PreprocessRun::run() {
  require_gate_data(config_);
  Model model = timed("load", [&] { return load(); });
  timed("preprocess", [&] { prepare(model); });
  if (config_.dry_run) return std::move(result_);
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

PreprocessResult run_preprocess(const Config& config, const RunContext& context) {
  return PreprocessRun(config, context).run();
}

}  // namespace qtool
