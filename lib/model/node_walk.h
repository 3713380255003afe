#pragma once

#include <type_traits>

#include <onnx/onnx_pb.h>

#include "model/graph_view.h"

namespace qtool {

/// Calls `visit` for every graph that stands in an attribute of `node`, and those inside it.
template <typename Node, typename Visit>
void for_each_graph_in(Node& node, const Visit& visit) {
  if constexpr (std::is_const_v<Node>) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_graph(attribute.g(), visit);
      for (const auto& graph : attribute.graphs()) for_each_graph(graph, visit);
    }
  } else {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) for_each_graph(*attribute.mutable_g(), visit);
      for (auto& graph : *attribute.mutable_graphs()) for_each_graph(graph, visit);
    }
  }
}

/// Calls `visit` for every node of a model: of its graph, of all graphs inside it, and of its
/// functions.
template <typename Model, typename Visit>
void for_each_node(Model& model, const Visit& visit) {
  if constexpr (std::is_const_v<Model>) {
    const auto visit_graph = [&](const onnx::GraphProto& graph) {
      for (const auto& node : graph.node()) visit(node);
    };
    for_each_graph(model.graph(), visit_graph);
    for (const auto& function : model.functions()) {
      for (const auto& node : function.node()) {
        visit(node);
        for_each_graph_in(node, visit_graph);
      }
    }
  } else {
    const auto visit_graph = [&](onnx::GraphProto& graph) {
      for (auto& node : *graph.mutable_node()) visit(node);
    };
    for_each_graph(*model.mutable_graph(), visit_graph);
    for (auto& function : *model.mutable_functions()) {
      for (auto& node : *function.mutable_node()) {
        visit(node);
        for_each_graph_in(node, visit_graph);
      }
    }
  }
}

}  // namespace qtool
