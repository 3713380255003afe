#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <onnx/onnx_pb.h>

namespace qtool {

/// A node that can be computed once and for all.
struct ConstantNode {
  onnx::GraphProto* graph = nullptr;
  int index = 0;               ///< its place in `graph`
  onnx::NodeProto node;        ///< a copy with names that are unique over all graphs
  std::vector<int> producers;  ///< the constant nodes that make its inputs, by place in the list
  std::vector<int> consumers;  ///< the constant nodes that read its outputs
  std::vector<bool> is_read;   ///< per output: whether a node that is not constant reads it
};

/// The constant nodes of a model, subgraphs included, each after those it reads, and the
/// initializers that they read.
struct ConstantNodes {
  std::vector<ConstantNode> nodes;
  std::unordered_map<std::string, const onnx::TensorProto*>
      tensors;  ///< by the names used in the nodes
};

/// Finds the nodes whose inputs are all constants and whose results would not make the model much
/// larger. Those whose first output is in `excluded` and those that make a graph output are not
/// among them. Needs inferred shapes.
ConstantNodes find_constant_nodes(onnx::GraphProto& main,
                                  const std::unordered_set<std::string>& excluded);

}  // namespace qtool
