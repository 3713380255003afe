#pragma once

#include <string>

#include <onnx/onnx_pb.h>

#include "quantize/plan.h"

namespace qtool {

/// Calls `visit(attribute, graph)` for each graph that an attribute of `node` holds: the branches
/// of If, the body of Loop and Scan. `attribute` is its number.
template <typename Visit>
void for_each_body(const onnx::NodeProto& node, const Visit& visit) {
  for (int attribute = 0; attribute < node.attribute_size(); ++attribute) {
    if (node.attribute(attribute).has_g()) visit(attribute, node.attribute(attribute).g());
  }
}

/// An empty plan for the body at `attribute` of node number `index`, which is `node`.
BodyPlan body_plan(int index, const onnx::NodeProto& node, int attribute);

/// A plan by which every node of `graph` and of the bodies in it stays in float.
QuantPlan float_plan(const onnx::GraphProto& graph, const std::string& reason);

}  // namespace qtool
