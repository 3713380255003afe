#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "preprocess/graph_editor.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::string_view kReshapes[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};

/// Whether a Transpose moves nothing but axes of one element, so that all elements stay in order.
bool moves_ones_only(const GraphEditor& graph, int index) {
  if (!graph.is(index, "Transpose")) return false;
  const auto shape = graph.shape(graph.node(index).input(0));
  if (!shape) return false;
  auto perm = permutation_of(graph.node(index), shape->size());
  if (perm.empty()) return false;
  std::erase_if(perm, [&](auto axis) { return (*shape)[static_cast<std::size_t>(axis)] == 1; });
  return std::ranges::is_sorted(perm);
}

bool is_reshape(const GraphEditor& graph, int index) {
  if (moves_ones_only(graph, index)) return true;
  return std::ranges::any_of(kReshapes, [&](auto op_type) { return graph.is(index, op_type); });
}

bool allows_zero(const onnx::NodeProto& node) { return int_attribute(node, "allowzero", 0) != 0; }

/// The target of a Reshape that hangs on the number of elements alone.
std::optional<Integers> free_target(const GraphEditor& graph, int index) {
  if (!graph.is(index, "Reshape") || graph.node(index).input_size() != 2 ||
      allows_zero(graph.node(index)))
    return std::nullopt;
  auto target = graph.integers(graph.node(index).input(1));
  const bool has_zero = target && std::ranges::find(*target, 0) != target->end();
  return has_zero ? std::nullopt : target;
}

/// A target that makes the shape of `value`, of which at most one axis is free.
std::optional<Integers> target_of(const GraphEditor& graph, const std::string& value) {
  auto shape = graph.shape(value);
  if (!shape || std::ranges::count(*shape, -1) > 1 || std::ranges::count(*shape, 0) > 0)
    return std::nullopt;
  return shape;
}

/// The axes that two Unsqueezes, one behind the other, add to what the first one reads.
std::optional<Integers> joined_axes(const GraphEditor& graph, int first, int second) {
  const auto inner = integers_of(graph, graph.node(first), 1, "axes");
  auto outer = integers_of(graph, graph.node(second), 1, "axes");
  const auto shape = graph.shape(graph.node(first).input(0));
  if (!inner || !outer || !shape) return std::nullopt;
  const auto middle_rank = static_cast<std::int64_t>(shape->size() + inner->size());
  const auto rank = middle_rank + static_cast<std::int64_t>(outer->size());
  Integers axes, middle;
  for (const std::int64_t axis : *outer) axes.push_back(front_axis(axis, rank));
  for (const std::int64_t axis : *inner) middle.push_back(front_axis(axis, middle_rank));
  std::int64_t place = 0;
  const Integers added = axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::find(added, axis) != added.end()) continue;
    if (std::ranges::find(middle, place) != middle.end()) axes.push_back(axis);
    ++place;
  }
  std::ranges::sort(axes);
  const bool is_sound = axes.size() == inner->size() + outer->size() && axes.front() >= 0;
  return is_sound ? std::optional(axes) : std::nullopt;
}

void set_axes(GraphEditor& graph, int index, const std::string& source, const Integers& axes) {
  if (graph.opset() < 13) {
    graph.set_input(index, 0, source);
    set_ints(graph.edit(index), "axes", axes);
  } else {
    const std::string name = graph.node(index).output(0) + "_axes";
    graph.set_inputs(index, {source, graph.add_integers(name, axes)});
  }
}

void become_reshape(GraphEditor& graph, int index, const std::string& source,
                    const Integers& target) {
  const std::string name = graph.node(index).output(0) + "_shape";
  if (!graph.is(index, "Reshape") || allows_zero(graph.node(index))) graph.become(index, "Reshape");
  graph.set_inputs(index, {source, graph.add_integers(name, target)});
}

/// Whether the second one adds the axes that the first one took away.
bool undoes(const GraphEditor& graph, int first, int second, const std::string& middle) {
  if (!graph.is(first, "Squeeze") || !graph.is(second, "Unsqueeze")) return false;
  const auto axes = unit_axes(graph, first, middle);
  return axes && axes == unit_axes(graph, second, middle);
}

/// Whether the node makes the shape of `value` again.
bool restores_shape(const GraphEditor& graph, int index, const std::string& value) {
  if (!graph.is(index, "Reshape") || graph.node(index).input_size() != 2) return false;
  const int shape = graph.producer(graph.node(index).input(1), "Shape");
  return shape >= 0 && graph.node(shape).attribute_size() == 0 &&
         graph.node(shape).input(0) == value;
}

/// Lets the second of two nodes that change nothing but a shape read what the first one reads.
void merge(GraphEditor& graph, int second) {
  const std::string middle = graph.node(second).input(0);
  const int first = graph.producer(middle);
  if (first < 0 || !is_reshape(graph, first) || graph.node(first).input(0).empty()) return;
  const std::string source = graph.node(first).input(0);
  const std::string made = graph.node(second).output(0);
  const bool copies = undoes(graph, first, second, middle) || restores_shape(graph, second, source);
  if (copies && graph.replace(made, source)) {
    graph.remove(second);
  } else if (free_target(graph, second)) {
    graph.set_input(second, 0, source);
  } else if (graph.use_count(middle) != 1) {
    return;
  } else if (graph.is(first, "Unsqueeze") && graph.is(second, "Unsqueeze")) {
    const auto axes = joined_axes(graph, first, second);
    if (!axes) return;
    set_axes(graph, second, source, *axes);
  } else if (const auto target = target_of(graph, made)) {
    become_reshape(graph, second, source, *target);
  }
  if (graph.use_count(middle) == 0) graph.remove(first);
}

}  // namespace

bool merge_reshapes(Model& model) {
  // Reshape takes its target as an input from opset 5 on.
  if (model.opset() < 5) return false;
  return edit_graphs(model, {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (is_reshape(graph, i)) merge(graph, i);
    }
  });
}

}  // namespace qtool
