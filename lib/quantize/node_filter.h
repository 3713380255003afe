#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "config/config.h"
#include "config/node_selector.h"
#include "model/graph_view.h"
#include "quantize/op_rules.h"

namespace qtool {

/// Refuses entries of nodes_to_quantize and nodes_to_exclude that mean no node of the model as the
/// user knows it, subgraphs included: a `Usage` error with the nearest name. With preset
/// `onnxruntime` they are warnings, and returned.
std::vector<std::string> check_node_lists(const onnx::GraphProto& graph,
                                          const QuantizationConfig& config, Preset preset);

/// Which nodes of a model the config lets quantization touch, those of bodies included.
class NodeFilter {
 public:
  NodeFilter(const onnx::GraphProto& main, const QuantizationConfig& config,
             const Placement& placement);

  /// The rule to quantize `node` by; otherwise `reason` says why it stays in float.
  const OpRule* rule_for(const onnx::NodeProto& node, std::string& reason) const;
  /// Why the bodies of `node` stay in float as a whole, or nothing: the config leaves out a node
  /// with all that lies in it.
  std::string obstacle_to_bodies(const onnx::NodeProto& node) const;

 private:
  const QuantizationConfig& config_;
  const Placement& placement_;
  NodeSelector included_, excluded_;
};

}  // namespace qtool
