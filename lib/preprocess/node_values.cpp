#include "preprocess/node_values.h"

#include <algorithm>
#include <numeric>

namespace qtool {
namespace {

using Integers = std::vector<std::int64_t>;

Integers ints_of(const onnx::AttributeProto& attribute) {
  return {attribute.ints().begin(), attribute.ints().end()};
}

bool is_given(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() && !node.input(slot).empty();
}

}  // namespace

std::optional<Integers> integers_of(const GraphEditor& graph, const onnx::NodeProto& node, int slot,
                                    const std::string& name) {
  if (is_given(node, slot)) return graph.integers(node.input(slot));
  const auto* attribute = find_attribute(node, name);
  return attribute ? std::optional(ints_of(*attribute)) : std::nullopt;
}

std::optional<Slice> slice_of(const GraphEditor& graph, const onnx::NodeProto& node) {
  Slice slice;
  const auto starts = integers_of(graph, node, 1, "starts");
  const auto ends = integers_of(graph, node, 2, "ends");
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  slice.starts = *starts;
  slice.ends = *ends;
  if (is_given(node, 3) || find_attribute(node, "axes")) {
    const auto axes = integers_of(graph, node, 3, "axes");
    if (!axes) return std::nullopt;
    slice.axes = *axes;
  } else {
    slice.axes.resize(starts->size());
    std::iota(slice.axes.begin(), slice.axes.end(), 0);
  }
  slice.steps.assign(starts->size(), 1);
  if (is_given(node, 4)) {
    const auto steps = graph.integers(node.input(4));
    if (!steps) return std::nullopt;
    slice.steps = *steps;
  }
  const bool fits = slice.axes.size() == starts->size() && slice.steps.size() == starts->size();
  return fits ? std::optional(slice) : std::nullopt;
}

std::int64_t front_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? axis : -1;
}

std::optional<Integers> unit_axes(const GraphEditor& graph, int index, const std::string& plain) {
  auto axes = integers_of(graph, graph.node(index), 1, "axes");
  const auto shape = graph.shape(plain);
  if (!axes || !shape) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape->size() + axes->size());
  for (std::int64_t& axis : *axes) axis = front_axis(axis, rank);
  std::ranges::sort(*axes);
  const bool is_sound =
      !axes->empty() && axes->front() >= 0 && std::ranges::adjacent_find(*axes) == axes->end();
  return is_sound ? axes : std::nullopt;
}

Integers permutation_of(const onnx::NodeProto& node, std::size_t rank) {
  Integers perm(rank);
  if (const auto* attribute = find_attribute(node, "perm");
      attribute && attribute->ints_size() > 0) {
    perm = ints_of(*attribute);
  } else {
    for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(rank - 1 - i);
  }
  Integers sorted = perm;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return {};
  }
  return perm.size() == rank ? perm : Integers{};
}

}  // namespace qtool
