#include <algorithm>
#include <string>

#include "preprocess/graph_editor.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// The axes of a Slice counted from the front; nothing where one may not be, or stands twice.
std::optional<std::vector<std::int64_t>> axes_of(const Slice& slice,
                                                 const std::optional<GraphEditor::Shape>& shape) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis : slice.axes) {
    if (axis < 0 && !shape) return std::nullopt;
    if (axis < 0) axis = front_axis(axis, static_cast<std::int64_t>(shape->size()));
    if (axis < 0 || std::ranges::find(axes, axis) != axes.end()) return std::nullopt;
    axes.push_back(axis);
  }
  return axes;
}

void append(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Lets one Slice do what it and the one before it do, where they cut different axes.
void merge(GraphEditor& graph, int second) {
  const std::string middle = graph.node(second).input(0);
  const int first = graph.producer(middle, "Slice");
  if (first < 0 || graph.use_count(middle) != 1) return;
  const std::string source = graph.node(first).input(0);
  auto inner = slice_of(graph, graph.node(first));
  const auto outer = slice_of(graph, graph.node(second));
  if (!inner || !outer) return;
  const auto shape = graph.shape(source);
  const auto inner_axes = axes_of(*inner, shape), outer_axes = axes_of(*outer, shape);
  if (!inner_axes || !outer_axes) return;
  for (const std::int64_t axis : *outer_axes) {
    if (std::ranges::find(*inner_axes, axis) != inner_axes->end()) return;
  }
  inner->axes = *inner_axes;
  append(inner->axes, *outer_axes);
  append(inner->starts, outer->starts);
  append(inner->ends, outer->ends);
  append(inner->steps, outer->steps);
  const std::string base = graph.node(second).output(0);
  graph.set_inputs(second, {source, graph.add_integers(base + "_starts", inner->starts),
                            graph.add_integers(base + "_ends", inner->ends),
                            graph.add_integers(base + "_axes", inner->axes),
                            graph.add_integers(base + "_steps", inner->steps)});
  graph.remove(first);
}

}  // namespace

bool merge_slices(Model& model) {
  // Before opset 10 the places are attributes.
  if (model.opset() < 10) return false;
  return edit_graphs(model, {"Slice"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "Slice")) merge(graph, i);
    }
  });
}

}  // namespace qtool
