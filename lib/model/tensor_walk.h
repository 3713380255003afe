#pragma once

#include <string>
#include <type_traits>

#include <onnx/onnx_pb.h>

#include "model/model.h"

namespace qtool {

/// Where a tensor stands: in a node's attribute, or among initializers where both are null.
struct TensorPlace {
  const onnx::NodeProto* node = nullptr;
  const onnx::AttributeProto* attribute = nullptr;
  bool is_sparse = false;  ///< a part of a sparse tensor
};

/// `tensor 'w1'`, or `attribute 'value' of node 'c' (Constant)` where it has no name; for messages.
std::string describe(const onnx::TensorProto& tensor, const TensorPlace& place);

/// Calls `visit(tensor, place)` for every tensor of a model: initializers of all graphs,
/// attributes, functions, the parts of sparse tensors. The model may be changed through a non-const
/// one.
class TensorWalk {
 public:
  template <typename Visit>
  static void model(onnx::ModelProto& model, const Visit& visit) {
    graph(*model.mutable_graph(), visit);
    for (auto& training : *model.mutable_training_info()) {
      if (training.has_initialization()) graph(*training.mutable_initialization(), visit);
      if (training.has_algorithm()) graph(*training.mutable_algorithm(), visit);
    }
    for (auto& function : *model.mutable_functions()) {
      for (auto& each : *function.mutable_attribute_proto()) attribute(each, nullptr, visit);
      for (auto& each : *function.mutable_node()) node(each, visit);
    }
  }

  template <typename Visit>
  static void graph(onnx::GraphProto& graph, const Visit& visit) {
    for (auto& each : *graph.mutable_initializer()) visit(each, TensorPlace{});
    for (auto& each : *graph.mutable_sparse_initializer()) sparse(each, TensorPlace{}, visit);
    for (auto& each : *graph.mutable_node()) node(each, visit);
  }

 private:
  template <typename Visit>
  static void node(onnx::NodeProto& node, const Visit& visit) {
    for (auto& each : *node.mutable_attribute()) attribute(each, &node, visit);
  }

  template <typename Visit>
  static void attribute(onnx::AttributeProto& attribute, const onnx::NodeProto* node,
                        const Visit& visit) {
    const TensorPlace place{.node = node, .attribute = &attribute};
    if (attribute.has_t()) visit(*attribute.mutable_t(), place);
    for (auto& each : *attribute.mutable_tensors()) visit(each, place);
    if (attribute.has_sparse_tensor()) sparse(*attribute.mutable_sparse_tensor(), place, visit);
    for (auto& each : *attribute.mutable_sparse_tensors()) sparse(each, place, visit);
    if (attribute.has_g()) graph(*attribute.mutable_g(), visit);
    for (auto& each : *attribute.mutable_graphs()) graph(each, visit);
  }

  template <typename Visit>
  static void sparse(onnx::SparseTensorProto& tensor, const TensorPlace& place,
                     const Visit& visit) {
    if (tensor.has_values()) visit(*tensor.mutable_values(), place);
    if (tensor.has_indices()) visit(*tensor.mutable_indices(), place);
  }
};

}  // namespace qtool
