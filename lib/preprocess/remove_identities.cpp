#include <string>
#include <unordered_set>

#include "preprocess/passes.h"
#include "preprocess/scoped_map.h"

namespace qtool {
namespace {

/// Walks the graphs, outer before inner, and makes the readers of an Identity read what it copies.
class IdentityRemover {
 public:
  explicit IdentityRemover(Copies which) : which_(which) {}

  void visit(onnx::GraphProto& graph) {
    const auto outer_constants = constants_.mark();
    const auto outer_renames = renames_.mark();
    add_constants(graph);
    std::unordered_set<std::string> outputs;
    for (const auto& output : graph.output()) outputs.insert(output.name());
    int kept = 0;
    for (int i = 0; i < graph.node_size(); ++i) {
      auto& node = *graph.mutable_node(i);
      visit_node(node);
      if (is_removable(node) && !outputs.contains(node.output(0))) {
        renames_.set(node.output(0), node.input(0));
      } else {
        graph.mutable_node()->SwapElements(kept++, i);
      }
    }
    graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
    constants_.roll_back(outer_constants);
    renames_.roll_back(outer_renames);
  }

 private:
  void add_constants(const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) constants_.set(tensor.name(), true);
    for (const auto& input : graph.input()) constants_.set(input.name(), false);
  }

  void visit_node(onnx::NodeProto& node) {
    for (auto& input : *node.mutable_input()) {
      if (const auto* name = renames_.find(input)) input = *name;
    }
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) visit(graph);
    }
  }

  bool is_removable(const onnx::NodeProto& node) const {
    if (node.op_type() != "Identity" || !is_default_domain(node.domain())) return false;
    if (node.input_size() != 1 || node.output_size() != 1) return false;
    if (which_ == Copies::Any) return true;
    const bool* constant = constants_.find(node.input(0));
    return constant && *constant;
  }

  Copies which_;
  ScopedMap<bool> constants_;
  ScopedMap<std::string> renames_;
};

}  // namespace

void remove_identities(Model& model, Copies which) { IdentityRemover(which).visit(model.graph()); }

}  // namespace qtool
