#include "preprocess/clamps_to_max_and_min.h"

#include <vector>

#include "preprocess/affine.h"
#include "preprocess/graph_editor.h"

namespace qtool {
namespace {

constexpr std::int64_t kFirstWithBoundInputs = 11;

std::string input_or_none(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() ? node.input(slot) : std::string();
}

void replace_clip(GraphEditor& graph, int index) {
  std::string value = graph.node(index).input(0);
  const std::string low = input_or_none(graph.node(index), 1);
  const std::string high = input_or_none(graph.node(index), 2);
  if (low.empty() && high.empty()) return;
  if (!low.empty() && !high.empty()) {
    const std::string wanted = graph.node(index).output(0) + "_from_min";
    value = graph.node(graph.add_node(index, "Max", {value, low}, wanted)).output(0);
  }
  graph.become(index, high.empty() ? "Max" : "Min");
  graph.set_inputs(index, {value, high.empty() ? low : high});
}

void replace_clamp(GraphEditor& graph, int index) {
  if (graph.is(index, "Clip")) return replace_clip(graph, index);
  const std::string value = graph.node(index).input(0);
  const std::string zero = graph.add_constant(graph.node(index).output(0) + "_zero",
                                              *encoded(ElementType::Float, {}, {0}));
  graph.become(index, "Max");
  graph.set_inputs(index, {value, zero});
}

}  // namespace

void clamps_to_max_and_min(Model& model, const std::set<std::string>& values) {
  edit_graphs(model, {"Relu", "Clip"}, [&](GraphEditor& graph) {
    const int count = graph.node_count();
    for (int i = 0; i < count; ++i) {
      const bool is_clip = graph.is(i, "Clip") && graph.opset() >= kFirstWithBoundInputs;
      if ((!is_clip && !graph.is(i, "Relu")) || !values.contains(graph.node(i).output(0)) ||
          graph.type(graph.node(i).output(0)) != ElementType::Float)
        continue;
      replace_clamp(graph, i);
    }
  });
}

}  // namespace qtool
