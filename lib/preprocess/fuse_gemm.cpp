#include <string>
#include <utility>

#include "preprocess/fusion.h"
#include "preprocess/layer.h"

namespace qtool {
namespace {

/// A MatMul of two matrices at `index`, the second one constant, and the bias that its only reader
/// adds.
void fuse(GraphEditor& graph, int index) {
  const auto layer = layer_at(graph, index);
  if (!layer || layer->kind != Layer::Kind::MatMul) return;
  const auto shape = graph.shape(graph.node(index).input(0));
  const auto use = graph.sole_use(graph.node(index).output(0));
  if (!shape || shape->size() != 2 || !use || !graph.is(use->node, "Add")) return;
  const std::string& addend = graph.node(use->node).input(1 - use->slot);
  const auto* constant = graph.constant(addend);
  if (!constant || constant->dims_size() > 2) return;
  const auto values = bias_of(graph, *layer, addend, 1);
  const ElementType type = graph.type(graph.node(index).input(1));
  auto bias = values ? encoded(type, {layer->outputs.count}, *values) : std::nullopt;
  if (!bias) return;
  const std::string a = graph.node(index).input(0), b = graph.node(index).input(1);
  graph.become(use->node, "Gemm");
  graph.set_inputs(use->node, {a, b});
  graph.set_input(use->node, 2, graph.add_constant(addend, std::move(*bias)));
  graph.remove(index);
}

}  // namespace

bool fuse_gemm(Model& model) {
  return edit_graphs(model, {"MatMul"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "MatMul")) fuse(graph, i);
    }
  });
}

}  // namespace qtool
