#include "inspect/body_rounds.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/body_runs.h"

namespace qtool {
namespace {

/// A Scan runs once for each element along an axis of what it scans, its last inputs.
std::optional<std::int64_t> scanned_size(const GraphView& graph, const onnx::NodeProto& node) {
  if (node.op_type() != "Scan" || !is_default_domain(node.domain())) return std::nullopt;
  const std::int64_t scanned = int_attribute(node, "num_scan_inputs", 0);
  if (scanned < 1 || scanned > node.input_size()) return std::nullopt;
  const auto shape = graph.shape_of(node.input(node.input_size() - static_cast<int>(scanned)));
  const auto* axes = find_attribute(node, "scan_input_axes");
  const std::int64_t axis = axes && axes->ints_size() > 0 ? axes->ints(0) : 0;
  const auto rank = static_cast<std::int64_t>(shape ? shape->size() : 0);
  const std::int64_t place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank || (*shape)[static_cast<std::size_t>(place)] < 0)
    return std::nullopt;
  return (*shape)[static_cast<std::size_t>(place)];
}

}  // namespace

double rounds_of(const GraphView& graph, const onnx::NodeProto& node,
                 const std::string& attribute) {
  const auto constant = [&](const std::string& name) {
    return graph.is_graph_input(name) ? nullptr : graph.initializer(name);
  };
  if (const auto condition = constant_condition(node, constant))
    return attribute == (*condition ? "then_branch" : "else_branch") ? 1 : 0;
  if (const auto rounds = constant_round_count(node, constant)) return static_cast<double>(*rounds);
  return static_cast<double>(scanned_size(graph, node).value_or(1));
}

}  // namespace qtool
