#pragma once

#include <string>
#include <unordered_set>

#include <onnx/onnx_pb.h>

#include "preprocess/scoped_map.h"

namespace qtool {

/// Walks a graph and the graphs inside it in order, removing nodes whose outputs other values stand
/// for; readers follow.
class ValueReplacer {
 public:
  virtual ~ValueReplacer() = default;
  void visit(onnx::GraphProto& graph);

 protected:
  /// Called before the first node of a graph, and after its last.
  virtual void enter(const onnx::GraphProto& graph) = 0;
  virtual void leave() = 0;
  /// The values that stand for the node's outputs, one for each; nullptr where the node stays. Its
  /// inputs are up to date.
  virtual const google::protobuf::RepeatedPtrField<std::string>* replacement(
      const onnx::NodeProto& node) = 0;

 private:
  void visit(onnx::NodeProto& node);
  bool replace(const onnx::NodeProto& node, const std::unordered_set<std::string>& outputs);

  ScopedMap<std::string> renames_;
};

}  // namespace qtool
