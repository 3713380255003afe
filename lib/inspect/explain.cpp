#include "inspect/explain.h"

#include <algorithm>
#include <cstddef>

#include "model/graph_view.h"
#include "model/model.h"
#include "model/tensor.h"

namespace qtool {
namespace {

/// Index of the node called `name`, else of the one that writes `name`, or -1. Names count first: a
/// node and a value may share one.
int find_node(const onnx::GraphProto& graph, std::string_view name) {
  for (int i = 0; i < graph.node_size(); ++i) {
    if (graph.node(i).name() == name) return i;
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& outputs = graph.node(i).output();
    if (std::ranges::find(outputs, name) != outputs.end()) return i;
  }
  return -1;
}

std::string type_text(const GraphView& view, const std::string& value) {
  TensorInfo info;
  info.type = view.type_of(value);
  if (info.type == ElementType::Undefined) return "unknown";
  if (auto shape = view.shape_of(value)) {
    info.shape = std::move(*shape);
    info.has_shape = true;
  }
  return describe(info);
}

std::string source_text(const GraphView& view, const std::string& value) {
  if (view.initializer(value)) return "weight";
  if (const int producer = view.producer_of(value); producer >= 0) {
    return describe(view.node(producer));
  }
  return view.is_graph_input(value) ? "graph input" : "outer graph";
}

std::string plan_text(const TensorPlan& plan) {
  std::string out = element_type_name(plan.params.type);
  if (!plan.derivation.empty()) out += ", " + plan.derivation;
  if (plan.params.axis) out += ", per channel (axis " + std::to_string(*plan.params.axis) + ")";
  return out;
}

/// The plan that node `index` sees at its input `slot`.
const TensorPlan* plan_of_input(const QuantPlan& plan, int index, int slot) {
  const auto reads = [&](const Use& use) { return use.node == index && use.slot == slot; };
  const auto found = std::ranges::find_if(
      plan.tensors, [&](const TensorPlan& each) { return std::ranges::any_of(each.uses, reads); });
  return found == plan.tensors.end() ? nullptr : &*found;
}

const TensorPlan* plan_of_output(const QuantPlan& plan, const std::string& value) {
  const auto found = std::ranges::find_if(plan.tensors, [&](const TensorPlan& each) {
    return each.role == TensorPlan::Role::Activation && each.name == value;
  });
  return found == plan.tensors.end() ? nullptr : &*found;
}

ExplainedValue explain_value(const GraphView& view, const std::string& value, std::string source,
                             const TensorPlan* plan) {
  if (value.empty()) return {"", "not given", "", ""};
  return {value, std::move(source), type_text(view, value), plan ? plan_text(*plan) : "float"};
}

NodeExplanation explain(const GraphView& view, int index, const QuantPlan& plan,
                        NodeDecision decision) {
  const auto& node = view.node(index);
  NodeExplanation out{node.name(), node.op_type(), node.domain(), {}, {}, std::move(decision)};
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const std::string& value = node.input(slot);
    out.inputs.push_back(
        explain_value(view, value, source_text(view, value), plan_of_input(plan, index, slot)));
  }
  for (const std::string& value : node.output()) {
    out.outputs.push_back(explain_value(view, value,
                                        view.is_graph_output(value) ? "graph output" : "",
                                        plan_of_output(plan, value)));
  }
  return out;
}

}  // namespace

std::optional<NodeExplanation> explain_node(const onnx::GraphProto& graph, const QuantPlan& plan,
                                            std::string_view name) {
  const int index = find_node(graph, name);
  if (index < 0) return std::nullopt;
  return explain(GraphView(graph), index, plan,
                 node_decisions(graph, plan)[static_cast<std::size_t>(index)]);
}

std::optional<NodeExplanation> explain_unplanned_node(const onnx::GraphProto& graph,
                                                      std::string_view name,
                                                      const std::string& reason) {
  std::optional<NodeExplanation> out;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    if (out) return;
    if (const int index = find_node(each, name); index >= 0) {
      out = explain(GraphView(each), index, {}, {NodeDecision::Outcome::Float, reason});
    }
  });
  return out;
}

std::vector<std::string> explainable_names(const onnx::GraphProto& graph) {
  std::vector<std::string> out;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) {
      if (!node.name().empty()) out.push_back(node.name());
      out.insert(out.end(), node.output().begin(), node.output().end());
    }
  });
  return out;
}

}  // namespace qtool
