#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool::testing {

/// Operators in node order, `Conv Relu`.
inline std::string op_types(const onnx::GraphProto& graph) {
  std::string text;
  for (const auto& node : graph.node()) text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}

/// Names of the initializers in their order, `w b`.
inline std::string initializer_names(const onnx::GraphProto& graph) {
  std::string text;
  for (const auto& tensor : graph.initializer()) text += (text.empty() ? "" : " ") + tensor.name();
  return text;
}

/// The subgraph in attribute `name` of node `index`.
inline const onnx::GraphProto& subgraph(const onnx::GraphProto& graph, int index,
                                        const std::string& name) {
  for (const auto& attribute : graph.node(index).attribute()) {
    if (attribute.name() == name) return attribute.g();
  }
  return onnx::GraphProto::default_instance();
}

}  // namespace qtool::testing
