#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/graph_view.h"

namespace qtool {

/// A value of a graph, which is given by its place in the order in which graphs were entered.
using GraphValue = std::pair<int, std::string>;

/// A graph and those around it, innermost last: what a name means where a node of it reads it.
class GraphScopes {
 public:
  /// An initializer and the graph that holds it.
  struct Constant {
    const onnx::TensorProto* tensor = nullptr;
    int graph = 0;  ///< its place in the order in which graphs were entered
  };

  /// A node and the graph that it stands in.
  struct Producer {
    const onnx::NodeProto* node = nullptr;
    int graph = 0;
  };

  void enter(const onnx::GraphProto& graph);
  void leave();

  const GraphView& innermost() const { return scopes_.back().view; }
  /// Of the innermost graph.
  int number() const { return scopes_.back().number; }
  /// Nothing where the name means no initializer.
  std::optional<Constant> constant(std::string_view name) const;
  /// Nothing where no node makes the value.
  std::optional<Producer> producer(std::string_view name) const;
  ElementType type_of(std::string_view name) const;
  std::optional<std::vector<std::int64_t>> shape_of(std::string_view name) const;

 private:
  struct Scope {
    GraphView view;
    int number = 0;
  };
  const Scope* scope_of(std::string_view name) const;

  std::deque<Scope> scopes_;
  int entered_ = 0;
};

}  // namespace qtool
