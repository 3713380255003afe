#include "quantize/node_filter.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace qtool {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

/// Of all nodes, those of bodies included.
std::vector<std::string> node_names(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) names.push_back(node.name());
  });
  return names;
}

}  // namespace

std::vector<std::string> check_node_lists(const onnx::GraphProto& graph,
                                          const QuantizationConfig& config, Preset preset) {
  std::vector<std::string> warnings;
  if (config.nodes_to_quantize.empty() && config.nodes_to_exclude.empty()) return warnings;
  const std::vector<std::string> names = node_names(graph);
  const auto check = [&](const char* key, const std::vector<std::string>& entries) {
    const NodeSelector selector(entries, names);
    for (const std::string& entry : selector.unmatched()) {
      const std::string message =
          fmt::format("quantization.{}: '{}' is no node of the model", key, entry);
      const std::string near = nearest_name(entry, names);
      if (preset != Preset::OnnxRuntime) {
        throw Error(
            ErrorKind::Usage, message,
            near.empty() ? "'qtool inspect' lists the nodes" : "did you mean '" + near + "'?");
      }
      warnings.push_back(message);
    }
  };
  check("nodes_to_quantize", config.nodes_to_quantize);
  check("nodes_to_exclude", config.nodes_to_exclude);
  return warnings;
}

NodeFilter::NodeFilter(const onnx::GraphProto& main, const QuantizationConfig& config,
                       const Placement& placement)
    : config_(config),
      placement_(placement),
      included_(config.nodes_to_quantize, node_names(main)),
      excluded_(config.nodes_to_exclude, node_names(main)) {}

std::string NodeFilter::obstacle_to_bodies(const onnx::NodeProto& node) const {
  if (excluded_.contains(node.name())) return "lies in a node that is in nodes_to_exclude";
  if (contains(config_.op_types_to_exclude, node.op_type()))
    return "lies in a node whose type is in op_types_to_exclude";
  return "";
}

const OpRule* NodeFilter::rule_for(const onnx::NodeProto& node, std::string& reason) const {
  const std::string& type = node.op_type();
  if (type == "QuantizeLinear" || type == "DequantizeLinear") {
    reason = "is quantization itself";
  } else if (!config_.nodes_to_quantize.empty() && !included_.contains(node.name())) {
    reason = "is not in nodes_to_quantize";
  } else if (excluded_.contains(node.name())) {
    reason = "is in nodes_to_exclude";
  } else if (contains(config_.op_types_to_exclude, type)) {
    reason = "its type is in op_types_to_exclude";
  } else if (!config_.op_types_to_quantize.empty() &&
             !contains(config_.op_types_to_quantize, type)) {
    reason = "its type is not in op_types_to_quantize";
  } else if (const OpRule* rule = find_rule(placement_, type, node.domain())) {
    return rule;
  } else if (!config_.op_types_to_quantize.empty() ||
             (placement_.takes_everything && type != "Cast")) {
    return &generic_rule();
  } else {
    reason = "the operator has no 8-bit form";
  }
  return nullptr;
}

}  // namespace qtool
