#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/model.h"

namespace qtool {

/// A reader of a value: node `node` takes it as its input number `slot`.
struct Use {
  int node = 0;
  int slot = 0;
};

/// An index over one graph: who makes a value, who reads it, what type it has. Borrows the graph;
/// rebuilt after a change. Costs one pass over the graph; each question is one hash lookup.
///
/// The view of a body may know that of the graph around it. What the body captures then has the
/// initializer, the type, the shape and the place among graph inputs that it has out there; who
/// makes and reads it is still answered for the body alone.
class GraphView {
 public:
  explicit GraphView(const onnx::GraphProto& graph, const GraphView* outer = nullptr);

  const onnx::GraphProto& graph() const { return *graph_; }
  const onnx::NodeProto& node(int index) const { return graph_->node(index); }
  int node_count() const { return graph_->node_size(); }

  /// Index of the node that makes `value`, or -1 (graph input, initializer, unknown).
  int producer_of(std::string_view value) const;
  /// Readers of `value` among this graph's nodes, in node order; a captured use inside a subgraph
  /// is not among them.
  std::span<const Use> uses_of(std::string_view value) const;
  /// Whether a subgraph of some node reads `value` from outside.
  bool is_captured(std::string_view value) const;
  /// Whether anything of this graph needs `value`: a node, a subgraph or an output.
  bool is_read(std::string_view value) const;
  /// Whether `value` is an input, an initializer or a node's output of this very graph.
  bool defines(std::string_view value) const;
  /// The view of the graph that has `value`: this one or one around it, nullptr where none does.
  const GraphView* owner_of(std::string_view value) const;
  bool is_graph_input(std::string_view value) const;
  bool is_graph_output(std::string_view value) const;
  const onnx::TensorProto* initializer(std::string_view value) const;
  /// Element type of `value` by initializer, graph input or output, or value_info; Undefined where
  /// nothing says.
  ElementType type_of(std::string_view value) const;
  /// Declared shape of `value`: -1 for free axes; nothing where the rank is unknown.
  std::optional<std::vector<std::int64_t>> shape_of(std::string_view value) const;

 private:
  struct Value {
    int producer = -1;
    bool is_input = false;
    bool is_output = false;
    bool is_captured = false;
    const onnx::TensorProto* initializer = nullptr;
    const onnx::TypeProto* type = nullptr;
    std::vector<Use> uses;
  };
  const Value* find(std::string_view value) const;
  const Value* find_in_owner(std::string_view value) const;

  const onnx::GraphProto* graph_;
  const GraphView* outer_;
  std::unordered_map<std::string_view, Value> values_;
};

/// Names that are free in a model. Every name made up by qtool comes from here, so that none meets
/// one of the model's.
class NameAllocator {
 public:
  /// Reserves every value, node and initializer name of the model, subgraphs included.
  explicit NameAllocator(const onnx::GraphProto& graph);
  /// `wanted` where it is free, else `wanted_1`, `wanted_2` …; reserved from then on.
  std::string unique(const std::string& wanted);
  bool is_taken(const std::string& name) const { return taken_.contains(name); }

 private:
  std::unordered_map<std::string, int> taken_;
};

/// The names that the subgraphs of `node` read from outside.
std::unordered_set<std::string_view> captures_of(const onnx::NodeProto& node);

/// Whether some node has a body.
bool has_subgraphs(const onnx::GraphProto& graph);

/// Calls `visit` for every graph below and including `graph`: bodies of If, Loop, Scan and their
/// like.
template <typename Graph, typename Visit>
void for_each_graph(Graph& graph, const Visit& visit);

}  // namespace qtool

#include "model/graph_view_inl.h"
