#include <string>
#include <utility>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/hard_gate.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// The node that multiplies `value`, which nobody else reads, by a number.
struct Scaling {
  int node = -1;
  double factor = 1;
};
Scaling scaling_of(const GraphEditor& graph, const std::string& value) {
  const auto use = graph.sole_use(value);
  if (!use) return {};
  const auto number = number_beside(graph, use->node, use->slot);
  if (number && graph.is(use->node, "Mul")) return {use->node, *number};
  if (number && graph.is(use->node, "Div") && use->slot == 0) return {use->node, 1 / *number};
  return {};
}

void become_hard_sigmoid(GraphEditor& graph, int index, const Gate& gate) {
  graph.become(index, "HardSigmoid");
  graph.set_inputs(index, {gate.x});
  set_float(graph.edit(index), "alpha", static_cast<float>(gate.alpha));
  set_float(graph.edit(index), "beta", static_cast<float>(gate.beta));
}

/// `maker` makes what the scaling behind it made.
void skip_scaling(GraphEditor& graph, int maker, const Scaling& scaling) {
  if (scaling.node < 0) return;
  const std::string value = graph.node(scaling.node).output(0);
  graph.remove(scaling.node);
  graph.take_output(maker, 0, value);
}

/// The gate times what it is made of, and a number that makes the whole 1 * x * gate.
bool fuse_product(GraphEditor& graph, const Gate& gate) {
  if (!is_single_or_half(graph, gate.x)) return false;
  const std::string value = graph.node(gate.node).output(0);
  const auto use = graph.sole_use(value);
  if (!use || !graph.is(use->node, "Mul")) return false;
  const std::string other = graph.node(use->node).input(1 - use->slot);
  const Scaled data = other == gate.x ? Scaled{other, 1} : scaled(graph, other);
  if (data.value != gate.x) return false;
  Scaling scaling;
  if (!is_close(gate.factor * data.factor, 1)) {
    scaling = scaling_of(graph, graph.node(use->node).output(0));
    if (scaling.node < 0 || !is_close(gate.factor * data.factor * scaling.factor, 1)) return false;
  }
  if (graph.opset() >= kFirstWithHardSwish && is_hard_swish(gate)) {
    graph.become(use->node, "HardSwish");
    graph.set_inputs(use->node, {gate.x});
    graph.remove(gate.node);
  } else if (scaling.node < 0 && graph.is(gate.node, "HardSigmoid") && other == gate.x) {
    return false;
  } else {
    if (!graph.is(gate.node, "HardSigmoid")) become_hard_sigmoid(graph, gate.node, gate);
    graph.set_inputs(use->node, {gate.x, value});
  }
  skip_scaling(graph, use->node, scaling);
  return true;
}

/// The same for what may be x: the product tells which of the values before the clamp it is.
bool fuse_any_product(GraphEditor& graph, int index) {
  for (int steps = kMaxGateSteps; steps >= 0; --steps) {
    const auto gate = gate_at(graph, index, steps);
    if (gate && fuse_product(graph, *gate)) return true;
  }
  return false;
}

/// The gate alone, scaled to end at 1. One that only clamps stays a Clip.
bool fuse_gate(GraphEditor& graph, const Gate& gate) {
  if (graph.is(gate.node, "HardSigmoid") || !is_single_or_half(graph, gate.x)) return false;
  if (is_close(gate.alpha * gate.factor, 1) && gate.beta == 0) return false;
  Scaling scaling;
  if (!is_close(gate.factor, 1)) {
    scaling = scaling_of(graph, graph.node(gate.node).output(0));
    if (scaling.node < 0 || !is_close(gate.factor * scaling.factor, 1)) return false;
  }
  become_hard_sigmoid(graph, gate.node, gate);
  skip_scaling(graph, gate.node, scaling);
  return true;
}

}  // namespace

bool fuse_hard_swish(Model& model) {
  return edit_graphs(model, {"Add", "Div", "HardSigmoid", "Mul", "Sub"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is_removed(i)) continue;
      if (fuse_any_product(graph, i)) continue;
      const auto gate = gate_at(graph, i, kMaxGateSteps);
      // The number behind a gate is gone then: it may be half of a product now.
      if (gate && fuse_gate(graph, *gate)) fuse_any_product(graph, i);
    }
  });
}

}  // namespace qtool
