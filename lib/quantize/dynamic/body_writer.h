#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/dynamic/plan.h"

namespace qtool {

/// The integers that stand for a value, with their scale and zero point.
struct IntegerNames {
  std::string values, scale, zero_point;
  std::optional<std::int64_t> axis = {};
  ElementType scale_type = ElementType::Float;
  ElementType value_type = ElementType::Float;  ///< of the value that they stand for
};

/// Writes the new nodes of a graph and of those around it. What converts a value between float and
/// integers stands in the graph of the value, before the node that first needs it or holds it.
class BodyWriter {
 public:
  BodyWriter(Model& model, DynamicPlan& plan);

  /// Turns to a graph: all nodes from now on are its own, until `leave`. Graphs come in the order
  /// of for_each_graph.
  void enter(onnx::GraphProto& graph);
  /// Puts the new nodes in the place of the old ones, and the new initializers behind the others.
  void leave();

  /// The place of the graph among those entered.
  int number() const { return scopes_.back().number; }
  bool follows_onnxruntime() const { return plan_.convention == Convention::OnnxRuntime; }
  /// `wanted`, or like it where it is taken.
  std::string unique(const std::string& wanted) { return names_.unique(wanted); }

  onnx::NodeProto& add(onnx::NodeProto node);
  onnx::NodeProto& add(const std::string& op_type, const std::string& name,
                       const std::vector<std::string>& inputs, const std::string& output);
  /// An initializer of the graph.
  void store(onnx::TensorProto tensor);

  /// The names of a weight, which is stored where it belongs the first time.
  IntegerNames weight(int index);
  /// The two parts of it, for operators whose weights are stored in another order.
  void store_params(int index);
  void store_values(int index);

  /// The integers of a value, which a DynamicQuantizeLinear makes where nothing else did.
  IntegerNames quantized(const std::string& value, ElementType type);
  /// Says that a value exists in these integers.
  void set_integers(const std::string& value, IntegerNames names);
  /// Says that a value exists in float.
  void set_float(const std::string& value) { scopes_.back().floats.insert(value); }
  /// Sees to it that a value exists in float.
  void floats_of(const std::string& value);
  /// DequantizeLinear, with a cast where the value is float16 and the operator knows none.
  void dequantize(const IntegerNames& from, const std::string& name, const std::string& output);
  /// The value as float32: itself, or behind a cast.
  std::string as_float32(const std::string& value, ElementType type);

  const std::vector<onnx::GraphProto*>& graphs() const { return graphs_; }

 private:
  struct Scope {
    onnx::GraphProto* graph = nullptr;
    int number = 0;
    std::unordered_set<std::string> defined, floats;
    std::unordered_map<std::string, IntegerNames> integers;  ///< also made by quantizers
    std::unordered_map<std::string, std::string> casts;
    std::vector<onnx::NodeProto> nodes;
    std::vector<onnx::TensorProto> added;
  };
  Scope& owner_of(const std::string& value);
  Scope& scope_of_graph(int number);
  void define(Scope& scope);
  onnx::NodeProto& add_to(Scope& scope, const std::string& op_type, const std::string& name,
                          const std::vector<std::string>& inputs, const std::string& output);
  void dequantize_in(Scope& scope, const IntegerNames& from, const std::string& name,
                     const std::string& output);
  std::string float32_in(Scope& scope, const std::string& value, ElementType type);

  Model& model_;
  DynamicPlan& plan_;
  NameAllocator names_;
  std::deque<Scope> scopes_;
  std::vector<onnx::GraphProto*> graphs_;  ///< all that were entered
  std::vector<IntegerNames> weights_;      ///< of the plan; no names until stored
  std::vector<bool> is_stored_;
};

}  // namespace qtool
