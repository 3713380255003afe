#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/graph_editor.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Integers = std::vector<std::int64_t>;

/// What a Pad with constants puts before and behind each axis, and the value it puts there.
struct Padding {
  Integers begins, ends;
  double value = 0;
};

bool is_given(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() && !node.input(slot).empty();
}

std::optional<double> value_of(const GraphEditor& graph, const onnx::NodeProto& node) {
  if (is_given(node, 2)) return graph.scalar(node.input(2));
  return float_attribute(node, "value", 0);
}

/// Places each side of `pads` at its axis; axes that are not named get nothing.
std::optional<Padding> padding_of(const GraphEditor& graph, const onnx::NodeProto& node) {
  const auto pads = integers_of(graph, node, 1, "pads");
  const auto shape = graph.shape(node.input(0));
  const auto value = value_of(graph, node);
  if (string_attribute(node, "mode", "constant") != "constant" || !pads || !shape || !value)
    return std::nullopt;
  const std::size_t rank = shape->size();
  Padding padding{Integers(rank), Integers(rank), *value};
  Integers axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
  if (is_given(node, 3)) {
    const auto given = graph.integers(node.input(3));
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (pads->size() != axes.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = front_axis(axes[i], static_cast<std::int64_t>(rank));
    if (axis < 0) return std::nullopt;
    padding.begins[axis] = (*pads)[i];
    padding.ends[axis] = (*pads)[i + axes.size()];
  }
  return padding;
}

/// Whether only axes behind the channels grow, and none shrinks.
bool is_spatial(const Padding& padding) {
  const auto is_none = [](std::int64_t pad) { return pad == 0; };
  const auto is_growth = [](std::int64_t pad) { return pad >= 0; };
  return padding.begins.size() >= 3 &&
         std::all_of(padding.begins.begin(), padding.begins.begin() + 2, is_none) &&
         std::all_of(padding.ends.begin(), padding.ends.begin() + 2, is_none) &&
         std::ranges::all_of(padding.begins, is_growth) &&
         std::ranges::all_of(padding.ends, is_growth);
}

std::optional<Integers> own_pads(const onnx::NodeProto& node, std::size_t spatial) {
  const std::string automatic = string_attribute(node, "auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID") return std::nullopt;
  const auto* pads = find_attribute(node, "pads");
  Integers own(spatial * 2);
  if (!pads || automatic == "VALID") return own;
  if (pads->ints_size() != static_cast<int>(own.size())) return std::nullopt;
  std::ranges::copy(pads->ints(), own.begin());
  return own;
}

/// Whether the node pads with that value itself.
bool pads_alike(const onnx::NodeProto& node, double value, const Integers& own) {
  if (node.op_type() == "Conv") return value == 0;
  // What the last window takes beyond the edge hangs on whose edge it is.
  if (int_attribute(node, "ceil_mode", 0) != 0) return false;
  if (node.op_type() == "MaxPool") return std::isinf(value) && value < 0 && node.output_size() == 1;
  const bool counts = int_attribute(node, "count_include_pad", 0) != 0;
  const bool has_none = std::ranges::all_of(own, [](auto pad) { return pad == 0; });
  return value == 0 && (counts || has_none);
}

void fold(GraphEditor& graph, int index) {
  const std::string padded = graph.node(index).input(0);
  const int pad = graph.producer(padded, "Pad");
  if (pad < 0 || !graph.sole_use(padded)) return;
  const auto padding = padding_of(graph, graph.node(pad));
  if (!padding || !is_spatial(*padding)) return;
  const std::size_t spatial = padding->begins.size() - 2;
  auto pads = own_pads(graph.node(index), spatial);
  if (!pads || !pads_alike(graph.node(index), padding->value, *pads)) return;
  for (std::size_t i = 0; i < spatial; ++i) {
    (*pads)[i] += padding->begins[i + 2];
    (*pads)[i + spatial] += padding->ends[i + 2];
  }
  graph.set_input(index, 0, graph.node(pad).input(0));
  auto& node = graph.edit(index);
  drop_attribute(node, "auto_pad");
  set_ints(node, "pads", *pads);
  if (node.op_type() == "AveragePool") set_int(node, "count_include_pad", 1);
  graph.remove(pad);
}

}  // namespace

bool fold_pads(Model& model) {
  return edit_graphs(model, {"Pad"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      const bool can_pad = graph.is(i, "Conv") || graph.is(i, "MaxPool") ||
                           (graph.is(i, "AveragePool") && graph.opset() >= 7);
      if (can_pad) fold(graph, i);
    }
  });
}

}  // namespace qtool
