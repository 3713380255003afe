#include "inspect/decisions.h"

#include <cstddef>
#include <set>

#include "model/graph_view.h"

namespace qtool {
namespace {

std::string name_of(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

Skipped skipped(int index, const onnx::NodeProto& node, std::string reason) {
  return {index, name_of(node), node.op_type(), {}, std::move(reason)};
}

}  // namespace

std::vector<NodeDecision> node_decisions(const onnx::GraphProto& graph, const QuantPlan& plan) {
  using Outcome = NodeDecision::Outcome;
  std::vector<NodeDecision> out(static_cast<std::size_t>(graph.node_size()),
                                {Outcome::Float, "none of its inputs is quantized"});
  for (const Skipped& each : plan.skipped) {
    if (each.tensor.empty()) out.at(static_cast<std::size_t>(each.node)).reason = each.reason;
  }
  for (const int node : plan.quantized_nodes) {
    out.at(static_cast<std::size_t>(node)) = {Outcome::Quantized, {}};
  }
  for (const NodeForm& each : plan.forms) {
    if (each.kind == NodeForm::Kind::Gone)
      out.at(static_cast<std::size_t>(each.node)) = {Outcome::Folded, {}};
  }
  for (const int node : plan.absorbed) {
    out.at(static_cast<std::size_t>(node)) = {Outcome::Folded, {}};
  }
  for (const FoldedNode& each : plan.folded) {
    out.at(static_cast<std::size_t>(each.node)) = {Outcome::Folded, {}};
  }
  return out;
}

namespace {

void count(const onnx::GraphProto& graph, const QuantPlan& plan, PlanOutcome& out) {
  const auto decisions = node_decisions(graph, plan);
  for (int i = 0; i < graph.node_size(); ++i) {
    const NodeDecision& decision = decisions[static_cast<std::size_t>(i)];
    switch (decision.outcome) {
      case NodeDecision::Outcome::Quantized:
        ++out.quantized_nodes;
        break;
      case NodeDecision::Outcome::Folded:
        ++out.folded_nodes;
        break;
      case NodeDecision::Outcome::Float:
        out.left.push_back(skipped(i, graph.node(i), decision.reason));
        break;
    }
  }
}

void add_unplanned(const onnx::GraphProto& main, const std::set<const onnx::GraphProto*>& planned,
                   PlanOutcome& out) {
  for_each_graph(main, [&](const onnx::GraphProto& each) {
    if (planned.contains(&each)) return;
    for (const auto& node : each.node()) {
      out.left.push_back(skipped(-1, node, "lies in a subgraph"));
    }
  });
}

}  // namespace

PlanOutcome outcome_of(const onnx::GraphProto& graph, const QuantPlan& plan) {
  PlanOutcome out;
  std::set<const onnx::GraphProto*> planned;
  for_each_plan(graph, plan, [&](const onnx::GraphProto& each, const QuantPlan& of_each) {
    planned.insert(&each);
    count(each, of_each, out);
  });
  add_unplanned(graph, planned, out);
  out.float_nodes = out.left.size();
  for_each_plan(graph, plan, [&](const onnx::GraphProto&, const QuantPlan& of_each) {
    for (const Skipped& skipped : of_each.skipped) {
      if (!skipped.tensor.empty()) out.left.push_back(skipped);
    }
  });
  return out;
}

}  // namespace qtool
