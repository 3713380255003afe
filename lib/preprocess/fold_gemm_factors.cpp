#include <string>
#include <utility>

#include "preprocess/affine.h"
#include "preprocess/graph_editor.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// A constant times `factor`.
std::optional<onnx::TensorProto> times(const GraphEditor& graph, const std::string& name,
                                       double factor) {
  auto values = graph.floats(name);
  if (!values || values->empty()) return std::nullopt;
  for (double& value : *values) value *= factor;
  const auto* tensor = graph.constant(name);
  return encoded(element_type(*tensor), {tensor->dims().begin(), tensor->dims().end()}, *values);
}

void fold_factor(GraphEditor& graph, int index, int slot, const std::string& name) {
  const double factor = float_attribute(graph.node(index), name, 1);
  if (factor == 1) return;
  const bool has_input =
      slot < graph.node(index).input_size() && !graph.node(index).input(slot).empty();
  if (has_input) {
    auto tensor = times(graph, graph.node(index).input(slot), factor);
    if (!tensor) return;
    graph.set_constant(index, slot, std::move(*tensor), slot == 1 ? "weight" : "bias");
  } else if (slot == 1) {
    return;
  }
  drop_attribute(graph.edit(index), name);
}

}  // namespace

bool fold_gemm_factors(Model& model) {
  return edit_graphs(model, {"Gemm"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (!graph.is(i, "Gemm")) continue;
      fold_factor(graph, i, 1, "alpha");
      fold_factor(graph, i, 2, "beta");
    }
  });
}

}  // namespace qtool
