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
  if (name.empty()) return -1;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (graph.node(i).name() == name) return i;
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& outputs = graph.node(i).output();
    if (std::ranges::find(outputs, name) != outputs.end()) return i;
  }
  return -1;
}

/// What the graph says of a value, by the first place that does.
std::optional<TensorInfo> find_info(const onnx::GraphProto& graph, const std::string& value) {
  for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& each : *list) {
      if (each.name() == value) return tensor_info(each);
    }
  }
  return std::nullopt;
}

std::string type_text(const GraphView& view, const std::string& value) {
  TensorInfo info;
  if (view.initializer(value)) {
    info.type = view.type_of(value);
    info.shape = *view.shape_of(value);
    info.has_shape = true;
  } else {
    const GraphView* owner = view.owner_of(value);
    if (auto found = find_info((owner ? owner : &view)->graph(), value)) info = std::move(*found);
  }
  return info.type == ElementType::Undefined ? "unknown" : describe(info);
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
  const auto form = std::ranges::find(plan.forms, index, &NodeForm::node);
  if (form != plan.forms.end()) {
    const auto at = static_cast<std::size_t>(slot);
    const int found = at < form->inputs.size() ? form->inputs[at] : -1;
    return found < 0 ? nullptr : &plan.tensors[static_cast<std::size_t>(found)];
  }
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

/// A draft has no scales, and with them no biases: what the node's rule says has to do.
bool is_bias(const GraphView& view, const onnx::NodeProto& node, int slot,
             const Placement& placement) {
  const OpRule* rule = find_rule(placement, node.op_type(), node.domain());
  return rule != nullptr && rule->input(slot).role == InputRole::Bias &&
         view.initializer(node.input(slot)) != nullptr;
}

ExplainedValue explain_input(const GraphView& view, int index, int slot, const QuantPlan& plan) {
  const std::string& value = view.node(index).input(slot);
  if (value.empty()) return {"", "not given", "", ""};
  const TensorPlan* found = plan_of_input(plan, index, slot);
  return {value, source_text(view, value), type_text(view, value),
          found ? plan_text(*found) : "float"};
}

ExplainedValue explain_output(const GraphView& view, const std::string& value,
                              const QuantPlan& plan) {
  if (value.empty()) return {"", "not wanted", "", ""};
  const TensorPlan* found = plan_of_output(plan, value);
  return {value, view.is_graph_output(value) ? "graph output" : "", type_text(view, value),
          found ? plan_text(*found) : "float"};
}

NodeExplanation explain(const GraphView& view, int index, const QuantPlan& plan,
                        NodeDecision decision) {
  const auto& node = view.node(index);
  NodeExplanation out{node.name(), node.op_type(), node.domain(), {}, {}, std::move(decision)};
  for (int slot = 0; slot < node.input_size(); ++slot) {
    out.inputs.push_back(explain_input(view, index, slot, plan));
  }
  for (const std::string& value : node.output()) {
    out.outputs.push_back(explain_output(view, value, plan));
  }
  return out;
}

NodeExplanation explain_planned(const GraphView& view, int index, const QuantPlan& plan,
                                const Placement& placement) {
  const auto& node = view.node(index);
  NodeExplanation out = explain(
      view, index, plan, node_decisions(view.graph(), plan)[static_cast<std::size_t>(index)]);
  if (out.decision.outcome != NodeDecision::Outcome::Quantized) return out;
  for (int slot = 0; slot < node.input_size(); ++slot) {
    ExplainedValue& input = out.inputs[static_cast<std::size_t>(slot)];
    if (input.becomes == "float" && is_bias(view, node, slot, placement)) {
      input.becomes = "int32, scale of the input x scale of the weight";
    }
  }
  return out;
}

/// Looks in the graph of `view` before the bodies in it.
std::optional<NodeExplanation> explain_below(const GraphView& view, const QuantPlan& plan,
                                             const Placement& placement, std::string_view name) {
  const int index = find_node(view.graph(), name);
  if (index >= 0) return explain_planned(view, index, plan, placement);
  for (const BodyPlan& body : plan.bodies) {
    const GraphView inner(body_graph(view.graph(), body), &view);
    if (auto found = explain_below(inner, body.plan, placement, name)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NodeExplanation> explain_node(const onnx::GraphProto& graph, const QuantPlan& plan,
                                            const Placement& placement, std::string_view name) {
  return explain_below(GraphView(graph), plan, placement, name);
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
