#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "inspect/plan_outcome.h"
#include "quantize/plan.h"

namespace qtool {

/// What becomes of a node.
struct NodeDecision {
  enum class Outcome { Quantized, Folded, Float } outcome = Outcome::Float;
  std::string reason;  ///< why it stays in float; empty otherwise
};

/// One decision per node of `graph`, for which `plan` was made.
std::vector<NodeDecision> node_decisions(const onnx::GraphProto& graph, const QuantPlan& plan);

/// Counts the decisions for all graphs, and lists what stays in float: nodes of planned graphs,
/// nodes of bodies without a plan, and single tensors.
PlanOutcome outcome_of(const onnx::GraphProto& graph, const QuantPlan& plan);

}  // namespace qtool
