#pragma once

#include <type_traits>

namespace qtool {

template <typename Graph, typename Visit>
void for_each_graph(Graph& graph, const Visit& visit) {
  visit(graph);
  for (int i = 0; i < graph.node_size(); ++i) {
    for (int j = 0; j < graph.node(i).attribute_size(); ++j) {
      if constexpr (std::is_const_v<Graph>) {
        const auto& attribute = graph.node(i).attribute(j);
        if (attribute.has_g()) for_each_graph(attribute.g(), visit);
        for (const auto& each : attribute.graphs()) for_each_graph(each, visit);
      } else {
        auto& attribute = *graph.mutable_node(i)->mutable_attribute(j);
        if (attribute.has_g()) for_each_graph(*attribute.mutable_g(), visit);
        for (auto& each : *attribute.mutable_graphs()) for_each_graph(each, visit);
      }
    }
  }
}

}  // namespace qtool
