#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// `value` is max(low, min(high, input)).
struct Clamp {
  std::string input;
  double low = -kInfinity, high = kInfinity;
};

/// A bound of a Clip: input `slot`, before opset 11 an attribute; nothing where it is computed.
std::optional<double> bound(const GraphEditor& graph, const onnx::NodeProto& node, int slot,
                            const std::string& attribute, double fallback) {
  if (slot < node.input_size() && !node.input(slot).empty()) return graph.scalar(node.input(slot));
  const auto* found = find_attribute(node, attribute);
  return found ? found->f() : fallback;
}

std::optional<Clamp> clamp_at(const GraphEditor& graph, int index) {
  if (index < 0) return std::nullopt;
  const auto& node = graph.node(index);
  if (graph.is(index, "Relu")) return Clamp{node.input(0), 0, kInfinity};
  if (graph.is(index, "Clip")) {
    const auto low = bound(graph, node, 1, "min", -kInfinity);
    const auto high = bound(graph, node, 2, "max", kInfinity);
    return low && high ? std::optional(Clamp{node.input(0), *low, *high}) : std::nullopt;
  }
  const bool is_min = graph.is(index, "Min");
  if ((!is_min && !graph.is(index, "Max")) || node.input_size() != 2) return std::nullopt;
  for (const int slot : {0, 1}) {
    const auto number = number_beside(graph, index, slot);
    if (number && is_min) return Clamp{node.input(slot), -kInfinity, *number};
    if (number) return Clamp{node.input(slot), *number, kInfinity};
  }
  return std::nullopt;
}

/// min(max(alpha * x + beta, 0), 1) times `factor`.
struct Gate {
  int node = -1;  ///< that makes it
  std::string x;
  double alpha = 1, beta = 0, factor = 1;
};

/// The numbers that may be added to and multiplied with x before it is clamped.
constexpr int kMaxSteps = 2;

/// The gate that node `index` makes by clamping, with up to `max_steps` nodes before that; with one
/// more clamp where that alone is half of one.
std::optional<Gate> gate_at(const GraphEditor& graph, int index, int max_steps) {
  if (graph.is(index, "HardSigmoid")) {
    const auto& node = graph.node(index);
    return Gate{index, node.input(0), float_attribute(node, "alpha", 0.2F),
                float_attribute(node, "beta", 0.5F), 1};
  }
  auto clamp = clamp_at(graph, index);
  if (!clamp) return std::nullopt;
  const auto inner = clamp_at(graph, graph.producer(clamp->input));
  if (inner && graph.sole_use(clamp->input) && (clamp->low == -kInfinity || clamp->low == 0) &&
      inner->high == kInfinity)
    *clamp = {inner->input, std::max(clamp->low, inner->low), clamp->high};
  if (clamp->low != 0 || !(clamp->high > 0) || clamp->high == kInfinity) return std::nullopt;
  Gate gate{index, clamp->input, 1, 0, clamp->high};
  for (int steps = 0; steps < max_steps; ++steps) {
    const int before = graph.producer(gate.x);
    const bool is_add = graph.is(before, "Add");
    if (is_add || graph.is(before, "Sub")) {
      const auto second = number_beside(graph, before, 0);
      const auto first = is_add && !second ? number_beside(graph, before, 1) : std::nullopt;
      if (!second && !first) break;
      gate.beta += gate.alpha * (second ? (is_add ? *second : -*second) : *first);
      gate.x = graph.node(before).input(second ? 0 : 1);
    } else {
      const Scaled inner_scale = scaled(graph, gate.x);
      if (inner_scale.value == gate.x) break;
      gate.alpha *= inner_scale.factor;
      gate.x = inner_scale.value;
    }
  }
  gate.alpha /= clamp->high;
  gate.beta /= clamp->high;
  return gate;
}

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

bool is_hard_swish(const GraphEditor& graph, const Gate& gate) {
  return graph.opset() >= 14 && is_close(gate.alpha, 1.0 / 6) && is_close(gate.beta, 0.5);
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
  if (is_hard_swish(graph, gate)) {
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
  for (int steps = kMaxSteps; steps >= 0; --steps) {
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
      const auto gate = gate_at(graph, i, kMaxSteps);
      // The number behind a gate is gone then: it may be half of a product now.
      if (gate && fuse_gate(graph, *gate)) fuse_any_product(graph, i);
    }
  });
}

}  // namespace qtool
