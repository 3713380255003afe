#include "model/node_count.h"

#include "model/graph_view.h"

namespace qtool {

std::size_t node_count(const onnx::GraphProto& graph) {
  std::size_t count = 0;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    count += static_cast<std::size_t>(each.node_size());
  });
  return count;
}

}  // namespace qtool
