#include "preprocess/passes.h"

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/interrupt.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"
#include "preprocess/shape_inference.h"

namespace qtool {
namespace {

using Notes = std::vector<std::string>;

struct Pass {
  const char* name;
  std::function<void(Model&, Notes&)> run;
};

int node_count(const Model& model) {
  int count = 0;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) { count += graph.node_size(); });
  return count;
}

PreprocessReport run_passes(Model& model, std::span<const Pass> passes) {
  PreprocessReport report;
  for (const Pass& pass : passes) {
    throw_if_interrupted();
    const auto start = std::chrono::steady_clock::now();
    PassReport& entry = report.passes.emplace_back();
    entry.name = pass.name;
    entry.nodes_before = node_count(model);
    pass.run(model, report.notes);
    entry.nodes_after = node_count(model);
    entry.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return report;
}

void raise_opset(Model& model, std::int64_t version) {
  if (model.opset() > version) {
    throw Error(ErrorKind::Usage, "preprocess.opset: " + std::to_string(version) +
                                      ", expected at least the model's " +
                                      std::to_string(model.opset()));
  }
  upgrade_opset(model, version);
}

void infer_plain_shapes(Model& model, Notes& notes) {
  ShapeInference(model, notes, ShapeInference::Values::Ignore).run();
}

std::vector<Pass> normalization() {
  return {
      {"inline_functions", [](Model& model, Notes&) { inline_functions(model); }},
      {"rename_shadowing_values", [](Model& model, Notes&) { rename_shadowing_values(model); }},
      {"constants_to_initializers", [](Model& model, Notes&) { constants_to_initializers(model); }},
      {"remove_identities",
       [](Model& model, Notes&) { remove_identities(model, Copies::OfInitializers); }},
  };
}

}  // namespace

PreprocessReport normalize(Model& model) {
  std::vector<Pass> passes = normalization();
  passes.push_back({"infer_shapes", infer_shapes});
  return run_passes(model, passes);
}

PreprocessReport preprocess(Model& model, const PreprocessConfig& config) {
  if (!config.enabled) return normalize(model);
  std::vector<Pass> passes = normalization();
  const auto add = [&](bool is_wanted, const char* name, auto run) {
    if (is_wanted) passes.push_back({name, run});
  };
  const bool sets_shapes = !config.dims.empty() || !config.override_shapes.empty();
  add(sets_shapes, "set_input_shapes",
      [&](Model& each, Notes&) { set_input_shapes(each, config); });
  add(true, "infer_shapes", config.symbolic_shape ? infer_shapes : infer_plain_shapes);
  add(config.simplify, "remove_dead_nodes", [](Model& each, Notes&) { remove_dead_nodes(each); });
  add(config.fold_constants, "fold_constants", fold_constants);
  add(config.simplify, "remove_copies",
      [](Model& each, Notes&) { remove_identities(each, Copies::Any); });
  add(config.simplify, "fold_batch_normalization",
      [](Model& each, Notes&) { fold_batch_normalization(each); });
  add(config.simplify, "remove_duplicate_nodes",
      [](Model& each, Notes&) { remove_duplicate_nodes(each); });
  add(config.simplify, "share_constants", [](Model& each, Notes&) { share_constants(each); });
  add(config.simplify || config.fold_constants, "remove_unread_constants",
      [](Model& each, Notes&) { remove_dead_nodes(each); });
  add(config.opset.has_value(), "upgrade_opset",
      [&](Model& each, Notes&) { raise_opset(each, *config.opset); });
  return run_passes(model, passes);
}

}  // namespace qtool
