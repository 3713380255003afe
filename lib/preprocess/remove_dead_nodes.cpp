#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "preprocess/passes.h"

namespace qtool {
namespace {

using Names = std::unordered_set<std::string>;

Names clean_graph(onnx::GraphProto& graph, bool is_main);

/// Adds what `node` reads, its subgraphs included, to `needed`; cleans the subgraphs on the way.
void need_inputs(onnx::NodeProto& node, Names& needed) {
  needed.insert(node.input().begin(), node.input().end());
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) needed.merge(clean_graph(*attribute.mutable_g(), false));
    for (auto& graph : *attribute.mutable_graphs()) needed.merge(clean_graph(graph, false));
  }
}

/// Removes nodes that make nothing needed, later ones first, and completes `needed` by what the
/// others read.
void remove_nodes(onnx::GraphProto& graph, Names& needed) {
  std::vector<bool> is_live(static_cast<std::size_t>(graph.node_size()));
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    auto& node = *graph.mutable_node(i);
    is_live[i] = std::any_of(
        node.output().begin(), node.output().end(),
        [&](const std::string& name) { return !name.empty() && needed.contains(name); });
    if (is_live[i]) need_inputs(node, needed);
  }
  int kept = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (is_live[i]) graph.mutable_node()->SwapElements(kept++, i);
  }
  graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
}

template <typename Field, typename Keep>
void keep_if(Field& field, const Keep& keep) {
  field.erase(
      std::remove_if(field.begin(), field.end(), [&](const auto& each) { return !keep(each); }),
      field.end());
}

/// Removes initializers that nothing reads. One that is a graph input too is a default for the
/// caller and stays.
void remove_initializers(onnx::GraphProto& graph, const Names& needed) {
  Names kept;
  for (const auto& input : graph.input()) kept.insert(input.name());
  const auto is_kept = [&](const std::string& name) {
    return needed.contains(name) || kept.contains(name);
  };
  keep_if(*graph.mutable_initializer(), [&](const auto& tensor) { return is_kept(tensor.name()); });
  keep_if(*graph.mutable_sparse_initializer(),
          [&](const auto& tensor) { return is_kept(tensor.values().name()); });
}

Names defined_names(const onnx::GraphProto& graph) {
  Names names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

/// Cleans `graph` and tells which values it reads from the graphs around it.
Names clean_graph(onnx::GraphProto& graph, bool is_main) {
  Names needed;
  for (const auto& output : graph.output()) needed.insert(output.name());
  remove_nodes(graph, needed);
  remove_initializers(graph, needed);
  const Names defined = defined_names(graph);
  keep_if(*graph.mutable_value_info(),
          [&](const auto& value) { return defined.contains(value.name()); });
  keep_if(*graph.mutable_quantization_annotation(),
          [&](const auto& annotation) { return defined.contains(annotation.tensor_name()); });
  if (is_main) return {};
  std::erase_if(needed,
                [&](const std::string& name) { return name.empty() || defined.contains(name); });
  return needed;
}

}  // namespace

void remove_dead_nodes(Model& model) { clean_graph(model.graph(), true); }

}  // namespace qtool
