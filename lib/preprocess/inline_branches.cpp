#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Names = std::unordered_map<std::string, std::string>;

/// How often each name stands for a value that a graph makes.
std::unordered_map<std::string, int> definitions(const onnx::GraphProto& main) {
  std::unordered_map<std::string, int> counts;
  for_each_graph(main, [&](const onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) ++counts[input.name()];
    for (const auto& tensor : graph.initializer()) ++counts[tensor.name()];
    for (const auto& node : graph.node()) {
      for (const auto& output : node.output()) ++counts[output];
    }
  });
  return counts;
}

void rename_value(std::string& name, const Names& names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

void rename_in(onnx::NodeProto& node, const Names& names) {
  for (auto& input : *node.mutable_input()) rename_value(input, names);
  for (auto& output : *node.mutable_output()) rename_value(output, names);
  for (auto& attribute : *node.mutable_attribute()) {
    const auto rename = [&](onnx::GraphProto& graph) {
      for (auto& inner : *graph.mutable_node()) rename_in(inner, names);
      for (auto& output : *graph.mutable_output()) rename_value(*output.mutable_name(), names);
    };
    if (attribute.has_g()) rename(*attribute.mutable_g());
    for (auto& graph : *attribute.mutable_graphs()) rename(graph);
  }
}

class BranchInliner {
 public:
  explicit BranchInliner(Model& model)
      : model_(model), names_(model.graph()), definitions_(definitions(model.graph())) {}

  bool run() {
    visit(model_.graph(), {});
    return has_changed_;
  }

 private:
  using Conditions = std::unordered_map<std::string, bool>;

  void visit(onnx::GraphProto& graph, Conditions known) {
    for (const auto& tensor : graph.initializer()) {
      const auto bytes = model_.tensor_bytes(tensor);
      if (element_type(tensor) == ElementType::Bool && bytes.size() == 1)
        known[tensor.name()] = bytes[0] != std::byte{0};
    }
    for (const auto& input : graph.input()) known.erase(input.name());
    std::vector<onnx::NodeProto> nodes(std::make_move_iterator(graph.mutable_node()->begin()),
                                       std::make_move_iterator(graph.mutable_node()->end()));
    graph.clear_node();
    for (auto& node : nodes) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) visit(*attribute.mutable_g(), known);
        for (auto& each : *attribute.mutable_graphs()) visit(each, known);
      }
      const auto condition =
          node.op_type() == "If" && is_default_domain(node.domain()) && node.input_size() == 1
              ? known.find(node.input(0))
              : known.end();
      if (condition == known.end() || !put_branch(graph, node, condition->second))
        *graph.add_node() = std::move(node);
    }
  }

  /// Puts the nodes of the branch that runs in place of the If.
  bool put_branch(onnx::GraphProto& graph, onnx::NodeProto& node, bool condition) {
    onnx::GraphProto* branch = nullptr;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.name() == (condition ? "then_branch" : "else_branch"))
        branch = attribute.mutable_g();
    }
    if (!branch || branch->output_size() != node.output_size() || branch->input_size() > 0 ||
        branch->sparse_initializer_size() > 0)
      return false;
    const Names names = new_names(*branch);
    for (auto& tensor : *branch->mutable_initializer()) {
      rename_value(*tensor.mutable_name(), names);
      *graph.add_initializer() = std::move(tensor);
    }
    for (auto& value : *branch->mutable_value_info()) {
      rename_value(*value.mutable_name(), names);
      *graph.add_value_info() = std::move(value);
    }
    for (auto& inner : *branch->mutable_node()) {
      rename_in(inner, names);
      *graph.add_node() = std::move(inner);
    }
    add_outputs(graph, node, *branch, names);
    has_changed_ = true;
    return true;
  }

  /// Names that stand for something elsewhere too get another one.
  Names new_names(const onnx::GraphProto& branch) {
    Names names;
    const auto check = [&](const std::string& name) {
      if (!name.empty() && definitions_[name] > 1) names[name] = names_.unique(name);
    };
    for (const auto& tensor : branch.initializer()) check(tensor.name());
    for (const auto& node : branch.node()) {
      for (const auto& output : node.output()) check(output);
    }
    return names;
  }

  void add_outputs(onnx::GraphProto& graph, const onnx::NodeProto& node,
                   const onnx::GraphProto& branch, const Names& names) {
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      std::string value = branch.output(i).name();
      rename_value(value, names);
      auto& copy = *graph.add_node();
      copy.set_op_type("Identity");
      copy.add_input(value);
      copy.add_output(node.output(i));
    }
  }

  Model& model_;
  NameAllocator names_;
  std::unordered_map<std::string, int> definitions_;
  bool has_changed_ = false;
};

}  // namespace

bool inline_branches(Model& model) {
  return has_subgraphs(model.graph()) && BranchInliner(model).run();
}

}  // namespace qtool
