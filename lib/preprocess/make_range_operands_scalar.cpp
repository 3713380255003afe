#include <array>
#include <string>
#include <utility>

#include "preprocess/graph_editor.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

constexpr std::array kOperands{"start", "limit", "delta"};

void make_scalar(GraphEditor& graph, int index, int slot) {
  const auto& node = graph.node(index);
  const auto* tensor = graph.constant(node.input(slot));
  if (!tensor || tensor->dims_size() == 0 || element_count(*tensor) != 1) return;
  onnx::TensorProto scalar = *tensor;
  scalar.clear_dims();
  // The old name may have a type that says otherwise, so the scalar gets one of its own.
  graph.set_input(
      index, slot,
      graph.add_constant(node.output(0) + "_" + kOperands[static_cast<std::size_t>(slot)],
                         std::move(scalar)));
}

}  // namespace

bool make_range_operands_scalar(Model& model) {
  return edit_graphs(model, {"Range"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (!graph.is(i, "Range") || graph.node(i).input_size() != std::ssize(kOperands)) continue;
      for (int slot = 0; slot < std::ssize(kOperands); ++slot) make_scalar(graph, i, slot);
    }
  });
}

}  // namespace qtool
