#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/graph_view.h"
#include "model/model.h"

namespace qtool {

/// The names of a model, looked up when it is changed first: most passes find nothing to change.
class NamesOnDemand {
 public:
  explicit NamesOnDemand(const onnx::GraphProto& main) : main_(main) {}
  /// Must be called before the first change, so that names that go with it stay taken.
  NameAllocator& get() {
    if (!names_) names_.emplace(main_);
    return *names_;
  }

 private:
  const onnx::GraphProto& main_;
  std::optional<NameAllocator> names_;
};

/// One graph while it is changed. Knows who makes and who reads each value, of what shape it is,
/// and which values are constants, and keeps that right through its edits. Nodes keep their places
/// until the edits end, those added stand behind all others; a changed node may read only what is
/// made before it.
class GraphEditor {
 public:
  using Shape = std::vector<std::int64_t>;  ///< -1 for free axes

  /// `outer` is the graph around this one, if any. Shapes inside the body of a loop may differ
  /// from round to round; with `trusts_shapes` false none is known.
  GraphEditor(Model& model, onnx::GraphProto& graph, NamesOnDemand& names, const GraphEditor* outer,
              bool trusts_shapes);

  const Model& model() const { return model_; }
  std::int64_t opset() const { return opset_; }
  int node_count() const { return graph_.node_size(); }
  const onnx::NodeProto& node(int index) const { return graph_.node(index); }
  bool is_removed(int index) const { return is_removed_[static_cast<std::size_t>(index)]; }
  /// Whether the node is there and is ONNX's operator of that name.
  bool is(int index, std::string_view op_type) const;

  /// The node of this graph that makes `value`, or -1.
  int producer(const std::string& value) const;
  /// The same where it is ONNX's operator of that name.
  int producer(const std::string& value, std::string_view op_type) const;
  /// Readers of a value: nodes here and in subgraphs, and the graph's outputs.
  int use_count(const std::string& value) const;
  /// The one reader of a value, where that is a node of this graph and reads it once.
  std::optional<Use> sole_use(const std::string& value) const;
  /// Readers among this graph's nodes.
  std::vector<Use> uses(const std::string& value) const;
  bool is_output(const std::string& value) const;

  /// The initializer of this graph or one around it that no caller can give another value.
  const onnx::TensorProto* constant(const std::string& value) const;
  /// Its values where it is of a floating-point type.
  std::optional<std::vector<double>> floats(const std::string& value) const;
  /// The value of a floating-point constant of one element, of whatever rank.
  std::optional<double> scalar(const std::string& value) const;
  /// Its values where it is of type int64 or int32.
  std::optional<std::vector<std::int64_t>> integers(const std::string& value) const;
  std::optional<Shape> shape(const std::string& value) const;
  ElementType type(const std::string& value) const;

  /// The node to change what is neither input nor output of it.
  onnx::NodeProto& edit(int index);
  /// Makes the node another operator of ONNX, without attributes.
  void become(int index, const std::string& op_type);
  void set_inputs(int index, const std::vector<std::string>& inputs);
  void set_input(int index, int slot, const std::string& value);
  /// Lets the node make `value` as its output number `slot`, which its maker no longer does.
  void take_output(int index, int slot, const std::string& value);
  void remove(int index);
  /// Lets all readers of `from` read `to` instead, where that can be: a graph's outputs keep their
  /// names, so of the two values only one may be such.
  bool replace(const std::string& from, const std::string& to);

  /// Adds a node, which stands right before node `before` once the edits end, behind what was
  /// added there earlier; its place until then. Its name and its one output are as near to `wanted`
  /// as is free.
  int add_node(int before, const std::string& op_type, const std::vector<std::string>& inputs,
               const std::string& wanted);
  /// Adds a constant to this graph, under a name as near to `wanted` as is free.
  std::string add_constant(const std::string& wanted, onnx::TensorProto tensor);
  std::string add_integers(const std::string& wanted, const std::vector<std::int64_t>& values);
  /// Gives an input another constant: under the old one's name where nobody else reads that, else
  /// under a new one that ends in `role`.
  void set_constant(int index, int slot, onnx::TensorProto tensor, const std::string& role);

  /// How much was changed so far.
  int edit_count() const { return edit_count_; }
  /// Takes removed nodes out. The editor then still tells constants and shapes.
  void finish();

 private:
  struct Value {
    int producer = -1;
    int captures = 0;
    int outputs = 0;
    bool is_input = false;
    int initializer = -1;
    const onnx::TypeProto* type = nullptr;
    std::vector<Use> uses;
  };

  void begin_edit();
  const Value* find(const std::string& name) const;
  const onnx::TypeProto* type_of(const std::string& value) const;
  void count_captures(const onnx::GraphProto& graph);
  void drop_use(const std::string& value, int index, int slot);
  void move_readers(const std::string& from, const std::string& to);
  bool takes_name(const std::string& from, const std::string& to);
  void place_added();

  Model& model_;
  onnx::GraphProto& graph_;
  NamesOnDemand& names_;
  const GraphEditor* outer_;
  bool trusts_shapes_;
  std::int64_t opset_;
  int edit_count_ = 0;
  std::vector<bool> is_removed_;
  std::map<int, std::vector<int>> added_;  ///< by the node that they stand before
  std::unordered_map<std::string, Value> values_;
};

/// Calls `visit` for every graph of the model, outer ones first, if one of them holds an operator
/// of ONNX that `starts` names; whether it changed one.
bool edit_graphs(Model& model, std::initializer_list<std::string_view> starts,
                 const std::function<void(GraphEditor&)>& visit);

}  // namespace qtool
