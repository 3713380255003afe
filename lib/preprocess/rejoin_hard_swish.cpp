#include "preprocess/rejoin_hard_swish.h"

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "preprocess/affine.h"
#include "preprocess/expression.h"
#include "preprocess/hard_gate.h"
#include "preprocess/layer.h"
#include "preprocess/passes.h"
#include "preprocess/preprocess.h"

namespace qtool {
namespace {

/// From an earlier opset on the way to HardSwish is long: operators change their forms.
constexpr std::int64_t kFirstToRaise = 13;

/// x * Clip(x + 3, 0, 6) behind a Conv on floats: HardSwish, times the gate's factor.
struct Parts {
  Gate gate;
  int product = -1;
  Use reader;  ///< the only one of the product
};

bool is_of_float_conv(const GraphEditor& graph, const std::string& value) {
  const int conv = graph.producer(value, "Conv");
  if (conv < 0) return false;
  const auto* weight = graph.constant(graph.node(conv).input(1));
  return weight && element_type(*weight) == ElementType::Float;
}

/// The factor behind the product, where it is not folded into what comes then.
bool ends_in_factor(const GraphEditor& graph, const Parts& parts) {
  const auto [node, slot] = parts.reader;
  const auto number = number_beside(graph, node, slot);
  if (!number) return false;
  if (graph.is(node, "Mul")) return is_close(*number * parts.gate.factor, 1);
  return graph.is(node, "Div") && slot == 0 && is_close(*number, parts.gate.factor);
}

/// The constant at input 1 of the product's reader, a layer or a quantizer, for values that are
/// smaller by the gate's factor.
std::optional<onnx::TensorProto> constant_for_swish(const GraphEditor& graph, const Parts& parts) {
  const auto [node, slot] = parts.reader;
  if (slot != 0) return std::nullopt;
  if (const auto layer = layer_at(graph, node)) {
    const auto count = static_cast<std::size_t>(layer->inputs.count);
    return weight_by_input(graph, *layer, std::vector<double>(count, parts.gate.factor));
  }
  if (graph.node(node).op_type() != "QuantizeLinear") return std::nullopt;
  const std::string& name = graph.node(node).input(1);
  auto scale = graph.floats(name);
  if (!scale) return std::nullopt;
  for (double& each : *scale) each /= parts.gate.factor;
  const auto& dims = graph.constant(name)->dims();
  return encoded(graph.type(name), {dims.begin(), dims.end()}, *scale);
}

std::optional<Parts> parts_at(const GraphEditor& graph, int index) {
  if (graph.is_removed(index) || graph.is(index, "HardSigmoid")) return std::nullopt;
  const auto gate = gate_at(graph, index, kMaxGateSteps);
  if (!gate || !is_hard_swish(*gate) || !is_of_float_conv(graph, gate->x)) return std::nullopt;
  const auto use = graph.sole_use(graph.node(index).output(0));
  if (!use || !graph.is(use->node, "Mul") || graph.node(use->node).input(1 - use->slot) != gate->x)
    return std::nullopt;
  const auto reader = graph.sole_use(graph.node(use->node).output(0));
  if (!reader) return std::nullopt;
  const Parts parts{*gate, use->node, *reader};
  if (!ends_in_factor(graph, parts) && !constant_for_swish(graph, parts)) return std::nullopt;
  return parts;
}

void rejoin(GraphEditor& graph, const Parts& parts) {
  const int reader = parts.reader.node;
  if (ends_in_factor(graph, parts)) {
    graph.become(reader, "HardSwish");
    graph.set_inputs(reader, {parts.gate.x});
  } else {
    graph.set_constant(reader, 1, *constant_for_swish(graph, parts), "of_swish");
    const int swish =
        graph.add_node(parts.product, "HardSwish", {parts.gate.x}, parts.gate.x + "_swish");
    graph.set_input(reader, parts.reader.slot, graph.node(swish).output(0));
  }
  graph.remove(parts.product);
  graph.remove(parts.gate.node);
}

bool has_parts(Model& model) {
  bool found = false;
  edit_graphs(model, {"Mul"}, [&](const GraphEditor& graph) {
    for (int i = 0; i < graph.node_count() && !found; ++i) found = parts_at(graph, i).has_value();
  });
  return found;
}

bool has_opset_for_swish(Model& model, bool may_raise) {
  if (model.opset() >= kFirstWithHardSwish) return true;
  if (!may_raise || model.opset() < kFirstToRaise) return false;
  Model raised = model.clone();
  try {
    upgrade_opset(raised, kFirstWithHardSwish);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    return false;
  }
  model = std::move(raised);
  return true;
}

}  // namespace

bool rejoin_hard_swish(Model& model, bool may_raise_opset) {
  if (!has_parts(model) || !has_opset_for_swish(model, may_raise_opset)) return false;
  const bool changed = edit_graphs(model, {"Mul"}, [](GraphEditor& graph) {
    const int count = graph.node_count();
    for (int i = 0; i < count; ++i) {
      if (const auto parts = parts_at(graph, i)) rejoin(graph, *parts);
    }
  });
  if (changed) remove_dead_nodes(model);
  return changed;
}

}  // namespace qtool
