#include "quantize/bodies.h"

#include "model/model.h"

namespace qtool {

BodyPlan body_plan(int index, const onnx::NodeProto& node, int attribute) {
  return {index, attribute, node.attribute(attribute).name() + " of " + describe(node), {}};
}

QuantPlan float_plan(const onnx::GraphProto& graph, const std::string& reason) {
  QuantPlan out;
  for (int index = 0; index < graph.node_size(); ++index) {
    const auto& node = graph.node(index);
    out.skipped.push_back({index, node.name(), node.op_type(), "", reason});
    for_each_body(node, [&](int attribute, const onnx::GraphProto& body) {
      out.bodies.push_back(body_plan(index, node, attribute));
      out.bodies.back().plan = float_plan(body, reason);
    });
  }
  return out;
}

}  // namespace qtool
