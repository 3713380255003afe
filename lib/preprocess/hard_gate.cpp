#include "preprocess/hard_gate.h"

#include <algorithm>
#include <limits>

#include "preprocess/expression.h"
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

}  // namespace

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

bool is_hard_swish(const Gate& gate) {
  return is_close(gate.alpha, 1.0 / 6) && is_close(gate.beta, 0.5);
}

}  // namespace qtool
