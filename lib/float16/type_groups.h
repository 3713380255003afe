#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/model.h"

namespace qtool {

/// Inputs and outputs of a node that have one element type between them.
struct TypeGroup {
  std::vector<int> inputs, outputs;  ///< slots
  /// Whether the operator, at the model's opset, takes the target type in the place of float32.
  bool takes_target = false;
  std::string name;  ///< for reasons: the formal name of the first member
};

/// How the slots of `node` hang together, by the ONNX schema that holds at the model's opset, by
/// the table of ONNX Runtime's operators, and by what neither says. Slots that can hold no float32
/// are in no group. Nothing is known of an operator without either: then there are no groups, and
/// `is_known` is false.
struct NodeTypes {
  bool is_known = false;
  std::vector<TypeGroup> groups;
};
NodeTypes types_of_node(const onnx::NodeProto& node, const Model& model, ElementType target);

}  // namespace qtool
