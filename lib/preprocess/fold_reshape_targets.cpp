#include <algorithm>
#include <string>
#include <vector>

#include "preprocess/graph_editor.h"
#include "preprocess/passes.h"
#include "preprocess/size_flow.h"

namespace qtool {
namespace {

/// A constant that says what the computed target says: 0 for an axis of the data, -1 for the one
/// size that is left over.
std::optional<std::vector<std::int64_t>> constant_target(SizeFlow& sizes,
                                                         const onnx::NodeProto& node) {
  const auto target = sizes.elements(node.input(1));
  const auto data = sizes.axes(node.input(0));
  if (!target) return std::nullopt;
  std::vector<std::int64_t> out;
  int open = 0;
  for (std::size_t i = 0; i < target->size(); ++i) {
    const auto number = sizes.constant((*target)[i]);
    const bool is_copied = data && i < data->size() && (*data)[i] == (*target)[i];
    const std::int64_t value = number ? *number : is_copied ? 0 : -1;
    if (value < 0) ++open;
    out.push_back(value);
  }
  return open <= 1 ? std::optional(out) : std::nullopt;
}

/// Whether the data has the wanted shape already.
bool is_copy(SizeFlow& sizes, const onnx::NodeProto& node) {
  const auto target = sizes.elements(node.input(1));
  const auto is_special = [&](SizeFlow::Size size) {
    const auto number = sizes.constant(size);
    return number && *number <= 0;
  };
  return target && target == sizes.axes(node.input(0)) && std::ranges::none_of(*target, is_special);
}

void fold(GraphEditor& graph, SizeFlow& sizes, int index) {
  const auto& node = graph.node(index);
  if (node.input_size() != 2 || int_attribute(node, "allowzero", 0) != 0) return;
  const std::string from = node.output(0), to = node.input(0);
  if (graph.constant(node.input(1))) return;
  if (is_copy(sizes, node)) {
    if (graph.replace(from, to)) return graph.remove(index);
  }
  if (const auto target = constant_target(sizes, node))
    graph.set_input(index, 1, graph.add_integers(from + "_shape", *target));
}

}  // namespace

bool fold_reshape_targets(Model& model) {
  return edit_graphs(model, {"Reshape"}, [](GraphEditor& graph) {
    SizeFlow sizes(graph);
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is_removed(i)) continue;
      sizes.visit(i);
      if (graph.is(i, "Reshape")) fold(graph, sizes, i);
    }
  });
}

}  // namespace qtool
