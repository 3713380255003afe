#include <string>

#include "preprocess/graph_editor.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// Lets a Transpose that reads another one's result read what that one reads.
void merge(GraphEditor& graph, int second) {
  const int first = graph.producer(graph.node(second).input(0), "Transpose");
  if (first < 0) return;
  const std::string middle = graph.node(second).input(0), source = graph.node(first).input(0);
  const auto* perm = find_attribute(graph.node(second), "perm");
  const auto shape = graph.shape(source);
  const std::size_t rank = perm && perm->ints_size() > 0
                               ? static_cast<std::size_t>(perm->ints_size())
                               : (shape ? shape->size() : 0);
  const auto inner = permutation_of(graph.node(first), rank);
  const auto outer = permutation_of(graph.node(second), rank);
  if (rank == 0 || inner.empty() || outer.empty()) return;
  std::vector<std::int64_t> both;
  for (const std::int64_t axis : outer) both.push_back(inner[static_cast<std::size_t>(axis)]);
  graph.set_input(second, 0, source);
  set_ints(graph.edit(second), "perm", both);
  if (graph.use_count(middle) == 0) graph.remove(first);
}

}  // namespace

bool merge_transposes(Model& model) {
  return edit_graphs(model, {"Transpose"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "Transpose")) merge(graph, i);
    }
  });
}

}  // namespace qtool
