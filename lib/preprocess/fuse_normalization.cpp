#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// The first of the last axes that a reduction with kept axes goes over, or nothing.
std::optional<std::int64_t> first_reduced_axis(const GraphEditor& graph, int index) {
  const auto& node = graph.node(index);
  const auto shape = graph.shape(node.input(0));
  const auto given = integers_of(graph, node, 1, "axes");
  if (!shape || !given || given->empty() || int_attribute(node, "keepdims", 1) == 0)
    return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape->size());
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : *given) axes.push_back(front_axis(axis, rank));
  std::ranges::sort(axes);
  const auto first = rank - static_cast<std::int64_t>(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != first + static_cast<std::int64_t>(i)) return std::nullopt;
  }
  return first;
}

/// What `value` is the square of; empty where it is none.
std::string squared(const GraphEditor& graph, const std::string& value) {
  if (const int mul = graph.producer(value, "Mul"); mul >= 0)
    return graph.node(mul).input(0) == graph.node(mul).input(1) ? graph.node(mul).input(0) : "";
  const int pow = graph.producer(value, "Pow");
  return pow >= 0 && number_beside(graph, pow, 0) == 2.0 ? graph.node(pow).input(0) : "";
}

/// Whether one is a copy of the other's computation.
bool is_same(const GraphEditor& graph, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const int left = graph.producer(a), right = graph.producer(b);
  if (left < 0 || right < 0) return false;
  const auto &x = graph.node(left), &y = graph.node(right);
  return x.op_type() == "Sub" && y.op_type() == "Sub" && std::ranges::equal(x.input(), y.input());
}

/// x divided by the root of the mean of its squares.
struct Division {
  std::string x;
  double epsilon = 0;
  std::int64_t axis = 0;
};

/// The value whose root `value` is.
std::string under_root(const GraphEditor& graph, const std::string& value) {
  if (const int sqrt = graph.producer(value, "Sqrt"); sqrt >= 0) return graph.node(sqrt).input(0);
  const int pow = graph.producer(value, "Pow");
  return pow >= 0 && number_beside(graph, pow, 0) == 0.5 ? graph.node(pow).input(0) : "";
}

/// The value by whose root a product with `value` divides.
std::string under_inverse_root(const GraphEditor& graph, const std::string& value) {
  if (const int inverse = graph.producer(value, "Reciprocal"); inverse >= 0)
    return under_root(graph, graph.node(inverse).input(0));
  if (const int div = graph.producer(value, "Div"); div >= 0)
    return number_beside(graph, div, 1) == 1.0 ? under_root(graph, graph.node(div).input(1)) : "";
  const int pow = graph.producer(value, "Pow");
  return pow >= 0 && number_beside(graph, pow, 0) == -0.5 ? graph.node(pow).input(0) : "";
}

std::optional<Division> division_by(const GraphEditor& graph, const std::string& x,
                                    const std::string& mean_and_epsilon) {
  const int add = graph.producer(mean_and_epsilon, "Add");
  if (add < 0) return std::nullopt;
  for (const int slot : {0, 1}) {
    const auto epsilon = number_beside(graph, add, slot);
    const int mean = graph.producer(graph.node(add).input(slot), "ReduceMean");
    if (!epsilon || *epsilon < 0 || mean < 0) continue;
    const auto axis = first_reduced_axis(graph, mean);
    const std::string root = squared(graph, graph.node(mean).input(0));
    if (axis && !root.empty() && is_same(graph, root, x)) return Division{x, *epsilon, *axis};
  }
  return std::nullopt;
}

/// The division that node `index` does, or nothing.
std::optional<Division> division_at(const GraphEditor& graph, int index) {
  const auto& node = graph.node(index);
  if (graph.is(index, "Div")) {
    const std::string root = under_root(graph, node.input(1));
    return root.empty() ? std::nullopt : division_by(graph, node.input(0), root);
  }
  if (!graph.is(index, "Mul")) return std::nullopt;
  for (const int slot : {0, 1}) {
    const std::string root = under_inverse_root(graph, node.input(1 - slot));
    if (root.empty()) continue;
    if (const auto found = division_by(graph, node.input(slot), root)) return found;
  }
  return std::nullopt;
}

/// Whether a constant holds one value for each place of the axes from `axis` on.
bool covers(const GraphEditor& graph, const std::string& constant, const std::string& data,
            std::int64_t axis) {
  const auto* tensor = graph.constant(constant);
  const auto shape = graph.shape(data);
  return tensor && shape &&
         std::ranges::equal(tensor->dims(), std::vector(shape->begin() + axis, shape->end()));
}

/// The constant beside the only reader of `value`, where that is of `op_type`.
struct Beside {
  int node = -1;
  std::string constant;
};
Beside beside(const GraphEditor& graph, const std::string& value, const std::string& op_type,
              const std::string& data, std::int64_t axis) {
  const auto use = graph.sole_use(value);
  if (!use || !graph.is(use->node, op_type)) return {};
  const std::string other = graph.node(use->node).input(1 - use->slot);
  return covers(graph, other, data, axis) ? Beside{use->node, other} : Beside{};
}

void put(GraphEditor& graph, int index, const std::string& op_type, const Division& division,
         const std::vector<std::string>& inputs) {
  const auto shape = graph.shape(division.x);
  const std::int64_t axis = division.axis - static_cast<std::int64_t>(shape->size());
  graph.become(index, op_type);
  graph.set_inputs(index, inputs);
  auto& node = graph.edit(index);
  if (axis != -1) set_int(node, "axis", axis);
  set_float(node, "epsilon", static_cast<float>(division.epsilon));
  ensure_name(graph, index);
}

/// What the mean of was taken away to make `value`; empty where nothing.
std::string centered(const GraphEditor& graph, const std::string& value, std::int64_t axis) {
  const int sub = graph.producer(value, "Sub");
  if (sub < 0) return "";
  const std::string& x = graph.node(sub).input(0);
  const int mean = graph.producer(graph.node(sub).input(1), "ReduceMean");
  const bool fits =
      mean >= 0 && graph.node(mean).input(0) == x && first_reduced_axis(graph, mean) == axis;
  return fits ? x : "";
}

/// A normalization over the last axes, and the nodes that scale and shift it.
struct Normalization {
  Division division;
  Beside scale, bias;
};

std::optional<Normalization> layer_around(const GraphEditor& graph, int index) {
  auto division = division_at(graph, index);
  if (!division) return std::nullopt;
  const std::string x = centered(graph, division->x, division->axis);
  if (x.empty() || !is_single_or_half(graph, x)) return std::nullopt;
  division->x = x;
  const auto scale = beside(graph, graph.node(index).output(0), "Mul", x, division->axis);
  if (scale.node < 0) return std::nullopt;
  return Normalization{*division, scale,
                       beside(graph, graph.node(scale.node).output(0), "Add", x, division->axis)};
}

void fuse_layer(GraphEditor& graph, int index) {
  const auto found = layer_around(graph, index);
  if (!found) return;
  const auto& [division, scale, bias] = *found;
  if (bias.node < 0)
    return put(graph, scale.node, "LayerNormalization", division, {division.x, scale.constant});
  put(graph, bias.node, "LayerNormalization", division,
      {division.x, scale.constant, bias.constant});
}

std::optional<Normalization> rms_around(const GraphEditor& graph, int index) {
  const auto division = division_at(graph, index);
  if (!division || !is_single_or_half(graph, division->x)) return std::nullopt;
  const auto scale = beside(graph, graph.node(index).output(0), "Mul", division->x, division->axis);
  if (scale.node < 0) return std::nullopt;
  return Normalization{*division, scale, {}};
}

void fuse_rms(GraphEditor& graph, int index) {
  const auto found = rms_around(graph, index);
  if (!found) return;
  const auto& [division, scale, bias] = *found;
  put(graph, scale.node, "RMSNormalization", division, {division.x, scale.constant});
}

/// Counts the nodes of which `is_found` says that a pattern ends around them.
template <typename IsFound>
PatternCount count(Model& model, const IsFound& is_found) {
  PatternCount out;
  edit_graphs(model, {"ReduceMean"}, [&](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) out.found += is_found(graph, i) ? 1 : 0;
  });
  return out;
}

}  // namespace

std::unordered_set<int> nodes_runtimes_fuse(const GraphEditor& graph) {
  std::unordered_set<int> nodes;
  add_gelu_nodes(graph, nodes);
  for (int i = 0; i < graph.node_count(); ++i) {
    if (graph.is_removed(i)) continue;
    const auto found = layer_around(graph, i);
    if (!found) continue;
    nodes.insert(found->scale.node);
    if (found->bias.node >= 0) nodes.insert(found->bias.node);
  }
  return nodes;
}

PatternCount count_layer_normalization(Model& model) {
  return count(model, [](const GraphEditor& graph, int index) {
    return layer_around(graph, index).has_value();
  });
}

PatternCount count_rms_normalization(Model& model) {
  return count(model, [](const GraphEditor& graph, int index) {
    return rms_around(graph, index) && !layer_around(graph, index);
  });
}

bool fuse_layer_normalization(Model& model) {
  if (model.opset() < 17) return false;
  return edit_graphs(model, {"ReduceMean"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) fuse_layer(graph, i);
  });
}

bool fuse_rms_normalization(Model& model) {
  if (model.opset() < 23) return false;
  return edit_graphs(model, {"ReduceMean"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) fuse_rms(graph, i);
  });
}

}  // namespace qtool
