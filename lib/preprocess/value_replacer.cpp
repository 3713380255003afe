#include "preprocess/value_replacer.h"

#include <algorithm>

namespace qtool {

void ValueReplacer::visit(onnx::GraphProto& graph) {
  const auto outer = renames_.mark();
  enter(graph);
  std::unordered_set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  int kept = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    visit(*graph.mutable_node(i));
    if (!replace(graph.node(i), outputs)) graph.mutable_node()->SwapElements(kept++, i);
  }
  graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
  leave();
  renames_.roll_back(outer);
}

void ValueReplacer::visit(onnx::NodeProto& node) {
  for (auto& input : *node.mutable_input()) {
    if (const auto* name = renames_.find(input)) input = *name;
  }
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) visit(*attribute.mutable_g());
    for (auto& graph : *attribute.mutable_graphs()) visit(graph);
  }
}

/// Whether the node goes. One that makes a graph output, whose name must stay, does not.
bool ValueReplacer::replace(const onnx::NodeProto& node,
                            const std::unordered_set<std::string>& outputs) {
  const auto is_output = [&](const std::string& name) { return outputs.contains(name); };
  if (std::ranges::any_of(node.output(), is_output)) return false;
  const auto* values = replacement(node);
  if (!values) return false;
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) renames_.set(node.output(i), values->Get(i));
  }
  return true;
}

}  // namespace qtool
