#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/graph_view.h"
#include "preprocess/passes.h"
#include "preprocess/scoped_map.h"

namespace qtool {
namespace {

/// Walks the graphs, outer before inner. `scope_` holds every value that can be read at this point,
/// with its new name.
class Renamer {
 public:
  explicit Renamer(const onnx::GraphProto& main) : names_(main) {}

  void visit(onnx::GraphProto& graph) {
    const auto outer = scope_.mark();
    define_values(graph);
    for (auto& node : *graph.mutable_node()) rename_in(node);
    for (auto& output : *graph.mutable_output()) rename(*output.mutable_name());
    for (auto& value : *graph.mutable_value_info()) rename(*value.mutable_name());
    scope_.roll_back(outer);
  }

 private:
  using Renamed = std::unordered_map<std::string, std::string>;

  /// All of them before any subgraph, which gives way.
  void define_values(onnx::GraphProto& graph) {
    Renamed own;
    for (auto& input : *graph.mutable_input()) define(*input.mutable_name(), own);
    for (auto& tensor : *graph.mutable_initializer()) define(*tensor.mutable_name(), own);
    for (auto& tensor : *graph.mutable_sparse_initializer())
      define(*tensor.mutable_values()->mutable_name(), own);
    for (auto& node : *graph.mutable_node()) {
      for (auto& output : *node.mutable_output()) define(output, own);
    }
    for (const auto& [name, new_name] : own) scope_.set(name, new_name);
  }

  /// Gives `name`, defined by the graph at hand, a new one where another graph has it; an input and
  /// its initializer get the same.
  void define(std::string& name, Renamed& own) {
    if (name.empty()) return;
    const auto [entry, is_new] = own.try_emplace(name, name);
    if (is_new && !defined_.insert(name).second) entry->second = names_.unique(name);
    name = entry->second;
  }

  void rename(std::string& name) {
    if (const auto* new_name = scope_.find(name)) name = *new_name;
  }

  void rename_in(onnx::NodeProto& node) {
    for (auto& input : *node.mutable_input()) rename(input);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) visit(graph);
    }
  }

  NameAllocator names_;
  ScopedMap<std::string> scope_;
  std::unordered_set<std::string> defined_;  ///< names that some graph has for a value of its own
};

}  // namespace

void rename_shadowing_values(Model& model) {
  int graph_count = 0;
  for_each_graph(std::as_const(model).graph(), [&](const onnx::GraphProto&) { ++graph_count; });
  if (graph_count > 1) Renamer(model.graph()).visit(model.graph());
}

}  // namespace qtool
