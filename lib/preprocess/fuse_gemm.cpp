#include <algorithm>
#include <string>
#include <utility>

#include "preprocess/fusion.h"
#include "preprocess/layer.h"

namespace qtool {
namespace {

/// Of more axes ONNX Runtime would make a Gemm with a float bias, too, where that is a vector and
/// all sizes are known. One axis more means the same and keeps the product of integers.
void keep_apart(GraphEditor& graph, Use add, const Layer& layer) {
  const auto shape = graph.shape(graph.node(layer.node).input(0));
  const int slot = 1 - add.slot;
  const auto* bias = graph.constant(graph.node(add.node).input(slot));
  const bool is_known = std::ranges::none_of(*shape, [](auto size) { return size < 0; });
  if (shape->size() < 3 || !is_known || bias->dims_size() != 1) return;
  onnx::TensorProto row = *bias;
  row.clear_dims();
  row.add_dims(1);
  row.add_dims(bias->dims(0));
  graph.set_constant(add.node, slot, std::move(row), "row");
}

/// A MatMul of two matrices at `index`, the second one constant, and the bias that its only reader
/// adds.
void fuse(GraphEditor& graph, int index) {
  const auto layer = layer_at(graph, index);
  if (!layer || layer->kind != Layer::Kind::MatMul) return;
  const auto shape = graph.shape(graph.node(index).input(0));
  const auto use = graph.sole_use(graph.node(index).output(0));
  if (!shape || !use || !graph.is(use->node, "Add")) return;
  const std::string& addend = graph.node(use->node).input(1 - use->slot);
  const auto* constant = graph.constant(addend);
  if (!constant || constant->dims_size() > 2) return;
  const auto values = bias_of(graph, *layer, addend, 1);
  const ElementType type = graph.type(graph.node(index).input(1));
  if (shape->size() != 2) return keep_apart(graph, *use, *layer);
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
