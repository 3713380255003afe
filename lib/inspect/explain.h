#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "inspect/decisions.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// A value that a node reads or writes.
struct ExplainedValue {
  std::string name;     ///< empty: an optional one that is not given
  std::string source;   ///< of an input: `graph input`, `weight`, `node 'conv1' (Conv)` …; of an
                        ///< output: `graph output` or empty
  std::string type;     ///< `float32[1,3,224,224]`; `unknown` where nothing says
  std::string becomes;  ///< `uint8, measured`, `int8, weights, per channel (axis 0)` …, or `float`
};

/// One node, and what becomes of it.
struct NodeExplanation {
  std::string name;
  std::string op_type;
  std::string domain;  ///< empty: ONNX's own
  std::vector<ExplainedValue> inputs, outputs;
  NodeDecision decision;
};

/// The node of `graph` or of a body in it that is called `name`, else the one that writes a value
/// called so; nothing where there is none. `plan` was made for this graph by this placement.
std::optional<NodeExplanation> explain_node(const onnx::GraphProto& graph, const QuantPlan& plan,
                                            const Placement& placement, std::string_view name);

/// The same for a node that no plan knows, of any graph of the model; `reason` says why not.
std::optional<NodeExplanation> explain_unplanned_node(const onnx::GraphProto& graph,
                                                      std::string_view name,
                                                      const std::string& reason);

/// The names of all nodes and their outputs, subgraphs included: what can be asked for.
std::vector<std::string> explainable_names(const onnx::GraphProto& graph);

}  // namespace qtool
