#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "preprocess/graph_editor.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Shape = GraphEditor::Shape;

bool has_one_output(const onnx::NodeProto& node) {
  return node.output_size() == 1 && !node.output(0).empty();
}

/// Whether both have the same known shape.
bool same_shape(const GraphEditor& graph, const std::string& a, const std::string& b) {
  const auto left = graph.shape(a), right = graph.shape(b);
  return left && left == right && std::ranges::none_of(*left, [](auto size) { return size < 0; });
}

bool is_plain_cast(const GraphEditor& graph, const onnx::NodeProto& node) {
  const auto type = graph.type(node.input(0));
  return type != ElementType::Undefined &&
         static_cast<std::int64_t>(type) == int_attribute(node, "to", 0);
}

bool is_identity_transpose(const onnx::NodeProto& node) {
  const auto* perm = find_attribute(node, "perm");
  return perm && perm->ints_size() > 0 &&
         std::ranges::equal(perm->ints(),
                            std::views::iota(std::int64_t{0}, std::int64_t{perm->ints_size()}));
}

/// Nothing is added on any side. What else the node may say then says nothing.
bool is_empty_pad(const GraphEditor& graph, const onnx::NodeProto& node) {
  const auto pads = integers_of(graph, node, 1, "pads");
  return pads && !pads->empty() && std::ranges::all_of(*pads, [](auto pad) { return pad == 0; });
}

/// From the first to the last element of every axis that is named.
bool is_whole_slice(const GraphEditor& graph, const onnx::NodeProto& node, std::int64_t unbounded) {
  const auto slice = slice_of(graph, node);
  if (!slice) return false;
  const auto shape = graph.shape(node.input(0));
  for (std::size_t i = 0; i < slice->axes.size(); ++i) {
    if (slice->starts[i] != 0 || slice->steps[i] != 1) return false;
    if (slice->ends[i] >= unbounded) continue;
    const std::int64_t axis = slice->axes[i];
    const auto rank = shape ? static_cast<std::int64_t>(shape->size()) : 0;
    const std::int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank || (*shape)[place] < 0 || slice->ends[i] < (*shape)[place])
      return false;
  }
  return true;
}

/// Whether a Reshape's target is the shape that its input has: all axes but one are known to stay,
/// and so does the last.
bool is_same_target(const GraphEditor& graph, const onnx::NodeProto& node) {
  if (node.op_type() != "Reshape" || node.input_size() != 2 ||
      int_attribute(node, "allowzero", 0) != 0)
    return false;
  const auto target = graph.integers(node.input(1));
  const auto shape = graph.shape(node.input(0));
  if (!target || !shape || target->size() != shape->size()) return false;
  int open = 0;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const std::int64_t size = (*target)[i];
    if (size == -1) ++open;
    if (size > 0 && size != (*shape)[i]) return false;
  }
  return open <= 1;
}

/// The values of a constant of floating-point numbers or integers.
std::optional<std::vector<double>> numbers(const GraphEditor& graph, const std::string& value) {
  if (auto floats = graph.floats(value)) return floats;
  const auto integers = graph.integers(value);
  if (!integers) return std::nullopt;
  return std::vector<double>(integers->begin(), integers->end());
}

/// The input that a Mul, Div, Add, Sub or Pow by a neutral constant copies, or -1.
int neutral_input(const GraphEditor& graph, const onnx::NodeProto& node) {
  if (node.input_size() != 2) return -1;
  const std::string& op = node.op_type();
  const bool commutes = op == "Mul" || op == "Add";
  const double neutral = op == "Add" || op == "Sub" ? 0 : 1;
  if (!commutes && op != "Sub" && op != "Div" && op != "Pow") return -1;
  for (int slot = 1; slot >= (commutes ? 0 : 1); --slot) {
    const auto values = numbers(graph, node.input(slot));
    const auto is_neutral = [&](double value) { return value == neutral; };
    if (!values || values->empty() || !std::ranges::all_of(*values, is_neutral)) continue;
    const std::string& data = node.input(1 - slot);
    const auto shape = graph.shape(data);
    // One value of no more axes than the data changes nothing of its shape.
    const auto* constant = graph.constant(node.input(slot));
    const bool keeps_shape =
        same_shape(graph, data, node.output(0)) ||
        (values->size() == 1 &&
         (constant->dims_size() == 0 ||
          (shape && static_cast<int>(shape->size()) >= constant->dims_size())));
    // Zero added makes 0 of -0, which no reader but a division by it can tell.
    if (keeps_shape) return 1 - slot;
  }
  return -1;
}

/// The input that the node's one output is a copy of, or -1.
int copied_input(const GraphEditor& graph, const onnx::NodeProto& node, std::int64_t unbounded) {
  if (!is_default_domain(node.domain()) || !has_one_output(node) || node.input_size() == 0 ||
      node.input(0).empty())
    return -1;
  const std::string& op = node.op_type();
  if (op == "Identity") return 0;
  // Without the input that says so there is no training.
  if (op == "Dropout") return node.input_size() <= 2 ? 0 : -1;
  if (op == "Cast") return is_plain_cast(graph, node) ? 0 : -1;
  if (op == "Transpose") return is_identity_transpose(node) ? 0 : -1;
  if (op == "Pad") return is_empty_pad(graph, node) ? 0 : -1;
  if (op == "Slice") return is_whole_slice(graph, node, unbounded) ? 0 : -1;
  if (op == "Concat" || op == "Sum" || op == "Max" || op == "Min" || op == "Mean")
    return node.input_size() == 1 ? 0 : -1;
  if (op == "Reshape" || op == "Expand" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze")
    return same_shape(graph, node.input(0), node.output(0)) || is_same_target(graph, node) ? 0 : -1;
  return neutral_input(graph, node);
}

}  // namespace

bool remove_no_ops(Model& model, std::int64_t unbounded) {
  return edit_graphs(
      model, {"Add",      "Cast",  "Concat",  "Div", "Dropout", "Expand",    "Flatten",
              "Identity", "Max",   "Mean",    "Min", "Mul",     "Pad",       "Pow",
              "Reshape",  "Slice", "Squeeze", "Sub", "Sum",     "Transpose", "Unsqueeze"},
      [&](GraphEditor& graph) {
        for (int i = 0; i < graph.node_count(); ++i) {
          if (graph.is_removed(i)) continue;
          const int input = copied_input(graph, graph.node(i), unbounded);
          if (input < 0) continue;
          const std::string from = graph.node(i).output(0), to = graph.node(i).input(input);
          if (graph.replace(from, to)) graph.remove(i);
        }
      });
}

}  // namespace qtool
