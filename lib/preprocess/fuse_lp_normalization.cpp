#include <string>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// What stands before `value` where an Expand does nothing but what a Div does by itself.
std::string before_expand(const GraphEditor& graph, const std::string& value) {
  const int expand = graph.producer(value, "Expand");
  return expand >= 0 ? graph.node(expand).input(0) : value;
}

/// The least value of a Clip without another bound.
std::optional<double> least(const GraphEditor& graph, const onnx::NodeProto& node) {
  const bool has_most =
      (node.input_size() > 2 && !node.input(2).empty()) || find_attribute(node, "max") != nullptr;
  if (has_most) return std::nullopt;
  if (node.input_size() > 1 && !node.input(1).empty()) return graph.scalar(node.input(1));
  const auto* attribute = find_attribute(node, "min");
  return attribute ? std::optional<double>(attribute->f()) : std::nullopt;
}

void fuse(GraphEditor& graph, int index) {
  const std::string x = graph.node(index).input(0);
  const int clip = graph.producer(before_expand(graph, graph.node(index).input(1)), "Clip");
  if (clip < 0 || graph.shape(x) != graph.shape(graph.node(index).output(0))) return;
  const auto tiny = least(graph, graph.node(clip));
  const int norm = graph.producer(graph.node(clip).input(0), "ReduceL2");
  // The operator knows no other bound than being no division by zero.
  if (!tiny || !(*tiny > 0 && *tiny < 1e-10) || norm < 0 || graph.node(norm).input(0) != x) return;
  const auto axes = integers_of(graph, graph.node(norm), 1, "axes");
  const auto shape = graph.shape(x);
  if (!axes || axes->size() != 1 || !shape || int_attribute(graph.node(norm), "keepdims", 1) == 0)
    return;
  const auto rank = static_cast<std::int64_t>(shape->size());
  const std::int64_t axis = front_axis(axes->front(), rank);
  if (axis < 0) return;
  graph.become(index, "LpNormalization");
  graph.set_inputs(index, {x});
  set_int(graph.edit(index), "axis", axis == rank - 1 ? -1 : axis);
  set_int(graph.edit(index), "p", 2);
  ensure_name(graph, index);
}

}  // namespace

bool fuse_lp_normalization(Model& model) {
  return edit_graphs(model, {"ReduceL2"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "Div")) fuse(graph, i);
    }
  });
}

}  // namespace qtool
