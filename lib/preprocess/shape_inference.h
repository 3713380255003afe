#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "model/model.h"
#include "preprocess/scoped_map.h"

namespace qtool {

/// Infers types and shapes node by node: ONNX's own rules, ours for the operators that ONNX does
/// not know. What one node cannot tell does not keep the next from being asked. What follows from
/// the graph wins over what value_info claims.
class ShapeInference {
 public:
  /// `Values::Follow` computes with small integer tensors on the way, since they become shapes.
  enum class Values { Follow, Ignore };
  ShapeInference(Model& model, std::vector<std::string>& notes, Values values = Values::Follow);

  /// Takes what an operator that nobody knows makes for a value of the type and rank of its first
  /// input.
  void guess_unknown() { guesses_ = true; }

  /// Walks the whole model once, completing value_info of every graph and the types of outputs.
  void run();

  /// The types of a subgraph's outputs, given those of its inputs; asked by the rule of the node
  /// that holds it.
  std::vector<const onnx::TypeProto*> infer_subgraph(
      onnx::GraphProto& graph, const std::vector<const onnx::TypeProto*>& input_types);

 private:
  void visit(onnx::GraphProto& graph);
  void give_type(onnx::ValueInfoProto& input, const onnx::TypeProto& type);
  void add_declared(onnx::GraphProto& graph);
  void add_initializers(const onnx::GraphProto& graph);
  void visit(onnx::NodeProto& node, onnx::GraphProto& graph);
  void infer(onnx::NodeProto& node, onnx::GraphProto& graph);

  // What follows from constants and from what stays the same in every round: infer_bodies.cpp.
  bool infer_bodies(onnx::NodeProto& node, const onnx::OpSchema& schema,
                    onnx::InferenceContext& context);
  void infer_branches(onnx::NodeProto& node, bool condition, onnx::InferenceContext& context);
  void infer_loop(onnx::NodeProto& node, const onnx::OpSchema& schema,
                  onnx::InferenceContext& context);
  std::vector<onnx::TypeProto> carried_types(const onnx::NodeProto& node,
                                             const onnx::GraphProto& body);
  static void set_stacked_size(const onnx::NodeProto& node, std::int64_t rounds,
                               onnx::InferenceContext& context);

  static void guess(onnx::InferenceContext& context);
  void propagate_values(const onnx::OpSchema& schema, onnx::NodeProto& node);
  void define(const std::string& value, onnx::TypeProto& type, onnx::GraphProto& graph);
  void correct(const std::string& value, const onnx::TypeProto& type, onnx::TypeProto& declared,
               const onnx::GraphProto* graph);
  void note(const std::string& text);

  Model& model_;
  std::vector<std::string>& notes_;
  Values values_wanted_;
  bool guesses_ = false;
  bool is_trial_ = false;  ///< of the body of a loop: whether what it gives has the sizes it takes
  int note_count_ = 0;
  std::unordered_map<std::string, int> opsets_;
  onnx::shape_inference::SymbolTableImpl symbols_;
  ScopedMap<onnx::TypeProto*> types_;
  ScopedMap<onnx::ValueInfoProto*> untyped_;
  ScopedMap<const onnx::TensorProto*> constants_;
  ScopedMap<onnx::TensorShapeProto> values_;  ///< integer tensors as far as shape arithmetic tells
  std::vector<std::unique_ptr<onnx::TypeProto>> own_types_;
};

}  // namespace qtool
