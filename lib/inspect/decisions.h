#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "quantize/plan.h"

namespace qtool {

/// What becomes of a node of the main graph.
struct NodeDecision {
  enum class Outcome { Quantized, Folded, Float } outcome = Outcome::Float;
  std::string reason;  ///< why it stays in float; empty otherwise
};

/// One decision per node of `graph`, for which `plan` was made.
std::vector<NodeDecision> node_decisions(const onnx::GraphProto& graph, const QuantPlan& plan);

/// Everything that stays in float: nodes of the main graph, nodes of graphs below it, and single
/// tensors of the plan.
std::vector<Skipped> left_in_float(const onnx::GraphProto& graph, const QuantPlan& plan);

}  // namespace qtool
