#include <algorithm>
#include <string>
#include <utility>

#include "preprocess/affine.h"
#include "preprocess/layer.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// Slot of a node that reads `value`.
int slot_of(const onnx::NodeProto& node, const std::string& value) {
  const auto found = std::ranges::find(node.input(), value);
  return static_cast<int>(found - node.input().begin());
}

/// The layer makes what `node`, its only reader, made.
void take_over(GraphEditor& graph, int maker, int node) {
  const std::string value = graph.node(node).output(0);
  graph.remove(node);
  graph.take_output(maker, 0, value);
}

bool fold_into_bias_layer(GraphEditor& graph, const Layer& layer, int node, const Affine& affine) {
  const auto& inputs = graph.node(layer.node);
  const std::string bias_name = inputs.input_size() > 2 ? inputs.input(2) : std::string();
  auto bias = bias_of(graph, layer, bias_name, layer.beta);
  auto weight = weight_by_output(graph, layer, affine.factor);
  if (!bias || !weight) return false;
  for (std::size_t c = 0; c < bias->size(); ++c)
    (*bias)[c] = (*bias)[c] * affine.factor[c] + affine.offset[c];
  if (!set_weight_and_bias(graph, layer, std::move(*weight), *bias)) return false;
  take_over(graph, layer.node, node);
  return true;
}

/// A MatMul has no bias: what is added becomes, or stays, an Add.
bool fold_into_matmul(GraphEditor& graph, const Layer& layer, int node, const Affine& affine) {
  if (!affine.has_factor()) return false;
  auto weight = weight_by_output(graph, layer, affine.factor);
  auto bias =
      encoded(graph.type(graph.node(layer.node).input(1)), {layer.outputs.count}, affine.offset);
  if (!weight || !bias) return false;
  graph.set_constant(layer.node, 1, std::move(*weight), "weight");
  if (!affine.has_offset()) {
    take_over(graph, layer.node, node);
    return true;
  }
  const std::string product = graph.node(layer.node).output(0);
  graph.become(node, "Add");
  graph.set_inputs(node, {product});
  graph.set_constant(node, 1, std::move(*bias), "bias");
  return true;
}

/// MatMul, the Add of a bias at `add`, and `node` behind it.
bool fold_into_matmul_add(GraphEditor& graph, int add, int node) {
  if (!graph.is(add, "Add") || graph.node(add).input_size() != 2) return false;
  const int bias_slot = graph.constant(graph.node(add).input(1)) ? 1 : 0;
  const std::string product = graph.node(add).input(1 - bias_slot);
  const auto layer = layer_at(graph, graph.producer(product, "MatMul"));
  if (!layer || !graph.sole_use(product)) return false;
  const auto* addend = graph.constant(graph.node(add).input(bias_slot));
  if (!addend || addend->dims_size() > layer->outputs.rank) return false;
  const auto affine =
      affine_of(graph, node, slot_of(graph.node(node), graph.node(add).output(0)), layer->outputs);
  auto bias = bias_of(graph, *layer, graph.node(add).input(bias_slot), 1);
  if (!affine || !bias) return false;
  auto weight = weight_by_output(graph, *layer, affine->factor);
  for (std::size_t c = 0; c < bias->size(); ++c)
    (*bias)[c] = (*bias)[c] * affine->factor[c] + affine->offset[c];
  auto tensor =
      encoded(graph.type(graph.node(layer->node).input(1)), {layer->outputs.count}, *bias);
  if (!weight || !tensor) return false;
  if (affine->has_factor()) graph.set_constant(layer->node, 1, std::move(*weight), "weight");
  graph.set_constant(add, bias_slot, std::move(*tensor), "bias");
  take_over(graph, add, node);
  return true;
}

/// The channels that a BatchNormalization for inference with constant parameters scales. Those of
/// data of unknown rank take single values only.
std::optional<Channels> normalized_channels(const GraphEditor& graph, int index) {
  if (index < 0 || !graph.is(index, "BatchNormalization")) return std::nullopt;
  const auto& node = graph.node(index);
  const auto* scale = node.input_size() > 1 ? graph.constant(node.input(1)) : nullptr;
  if (!scale) return std::nullopt;
  const auto data = graph.shape(node.input(0));
  const int rank = data ? static_cast<int>(data->size()) : 1;
  const Channels channels{static_cast<std::int64_t>(element_count(*scale)), rank, rank - 2};
  return affine_of(graph, index, 0, channels) ? std::optional(channels) : std::nullopt;
}

/// Lets the BatchNormalization at `maker` do what the only reader of its `value` does. Its mean and
/// variance stay.
bool fold_into_normalization(GraphEditor& graph, int maker, const std::string& value) {
  constexpr int kScale = 1, kBias = 2;
  const auto channels = normalized_channels(graph, maker);
  const auto use = graph.sole_use(value);
  if (!channels || !use) return false;
  const auto affine = affine_of(graph, use->node, use->slot, *channels);
  if (!affine) return false;
  const std::string scale_name = graph.node(maker).input(kScale),
                    bias_name = graph.node(maker).input(kBias);
  auto scale = *graph.floats(scale_name), bias = *graph.floats(bias_name);
  for (std::size_t c = 0; c < scale.size(); ++c) {
    scale[c] *= affine->factor[c];
    bias[c] = bias[c] * affine->factor[c] + affine->offset[c];
  }
  auto new_scale = encoded(graph.type(scale_name), {channels->count}, scale);
  auto new_bias = encoded(graph.type(bias_name), {channels->count}, bias);
  if (!new_scale || !new_bias) return false;
  graph.set_constant(maker, kScale, std::move(*new_scale), "scale");
  graph.set_constant(maker, kBias, std::move(*new_bias), "bias");
  take_over(graph, maker, use->node);
  return true;
}

/// Lets the layer that makes `value` do what its only reader does.
bool fold_reader(GraphEditor& graph, int maker, const std::string& value) {
  const auto use = graph.sole_use(value);
  if (!use) return false;
  const auto layer = layer_at(graph, maker);
  if (!layer) return fold_into_matmul_add(graph, maker, use->node);
  const auto affine = affine_of(graph, use->node, use->slot, layer->outputs);
  if (!affine) return false;
  return layer->has_bias_input() ? fold_into_bias_layer(graph, *layer, use->node, *affine)
                                 : fold_into_matmul(graph, *layer, use->node, *affine);
}

}  // namespace

bool fold_batch_normalization(Model& model) {
  return edit_graphs(model, {"BatchNormalization"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is_removed(i) || graph.node(i).output_size() != 1) continue;
      const std::string value = graph.node(i).output(0);
      const auto use = graph.sole_use(value);
      if (use && graph.is(use->node, "BatchNormalization")) fold_reader(graph, i, value);
    }
  });
}

bool fold_affine(Model& model) {
  const auto fold_behind = [](GraphEditor& graph, int maker) {
    if (graph.is_removed(maker) || graph.node(maker).output_size() != 1) return false;
    const std::string value = graph.node(maker).output(0);
    return fold_reader(graph, maker, value) || fold_into_normalization(graph, maker, value);
  };
  return edit_graphs(model, {"BatchNormalization", "Conv", "ConvTranspose", "Gemm", "MatMul"},
                     [&](GraphEditor& graph) {
                       for (int i = 0; i < graph.node_count(); ++i) {
                         while (fold_behind(graph, i)) {
                         }
                       }
                     });
}

}  // namespace qtool
