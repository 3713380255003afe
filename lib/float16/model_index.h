#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/model.h"

namespace qtool {

/// A value of some graph of a model: an input, an initializer, or what a node makes.
struct IndexedValue {
  enum class Kind { Unknown, Tensor, Container };  ///< Container: a sequence or an optional

  std::string name;
  int graph = 0;
  int producer = -1;  ///< number of the node that makes it
  bool is_input = false;
  bool is_output = false;  ///< of its graph
  bool is_initializer = false;
  Kind kind = Kind::Unknown;
  ElementType type = ElementType::Undefined;    ///< of the tensor, or of what the container holds
  bool is_constant = false;                     ///< an initializer, or made by a Constant node
  const onnx::TensorProto* constant = nullptr;  ///< its tensor, where it has one
  struct Use {
    int node = 0;
    int slot = 0;
  };
  std::vector<Use> uses;  ///< in every graph that sees it

  bool is_float() const { return kind == Kind::Tensor && type == ElementType::Float; }
  bool is_float_container() const { return kind == Kind::Container && type == ElementType::Float; }
};

/// A node of some graph of a model. Values by their numbers; -1 where an optional one is left out.
struct IndexedNode {
  const onnx::NodeProto* proto = nullptr;
  int graph = 0;
  std::vector<int> inputs, outputs;
  std::vector<int> bodies;  ///< numbers of the graphs in its attributes

  bool is(std::string_view op_type) const {
    return is_default_domain(proto->domain()) && proto->op_type() == op_type;
  }
};

struct IndexedGraph {
  const onnx::GraphProto* proto = nullptr;
  int holder = -1;  ///< number of the node whose body it is
  std::vector<int> inputs, outputs;
};

/// All graphs of a model at once: a name that a body reads from outside is the value outside.
/// Graphs, nodes and values are numbered as a walk from the front meets them, a body behind the
/// node that holds it. Borrows the model.
class ModelIndex {
 public:
  explicit ModelIndex(const Model& model);

  const Model& model() const { return *model_; }
  const std::vector<IndexedGraph>& graphs() const { return graphs_; }
  const std::vector<IndexedNode>& nodes() const { return nodes_; }
  const std::vector<IndexedValue>& values() const { return values_; }
  const IndexedValue& value(int number) const { return values_[static_cast<std::size_t>(number)]; }
  const IndexedNode& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }

  /// Says of a value of unknown type that it is a tensor of this one.
  void set_type(int value, ElementType type);

 private:
  using Scope = std::unordered_map<std::string_view, int>;

  int add_graph(const onnx::GraphProto& graph, int holder);
  int add_node(const onnx::NodeProto& node, int graph);
  int add_value(const std::string& name, int graph);
  void declare(const onnx::ValueInfoProto& info);
  int find(std::string_view name) const;

  const Model* model_;
  std::vector<IndexedGraph> graphs_;
  std::vector<IndexedNode> nodes_;
  std::vector<IndexedValue> values_;
  std::vector<Scope> scopes_;
};

}  // namespace qtool
