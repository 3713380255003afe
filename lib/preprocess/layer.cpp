#include "preprocess/layer.h"

#include <utility>

#include "model/float_values.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

std::size_t product_from(const std::vector<std::int64_t>& shape, std::size_t axis) {
  std::size_t count = 1;
  for (; axis < shape.size(); ++axis) count *= static_cast<std::size_t>(shape[axis]);
  return count;
}

std::optional<Layer> convolution(const onnx::NodeProto& node, Layer layer, bool is_transposed) {
  const auto& shape = layer.weight_shape;
  layer.groups = int_attribute(node, "group", 1);
  if (shape.size() < 3 || layer.groups <= 0 || shape[0] % layer.groups != 0) return std::nullopt;
  layer.kind = is_transposed ? Layer::Kind::ConvTranspose : Layer::Kind::Conv;
  const int rank = static_cast<int>(shape.size());
  const Channels rows{shape[0], rank, rank - 2};
  const Channels columns{shape[1] * layer.groups, rank, rank - 2};
  layer.inputs = is_transposed ? rows : columns;
  layer.outputs = is_transposed ? columns : rows;
  return layer;
}

std::optional<Layer> gemm(const onnx::NodeProto& node, Layer layer) {
  const auto& shape = layer.weight_shape;
  if (shape.size() != 2 || int_attribute(node, "transA", 0) != 0) return std::nullopt;
  layer.kind = Layer::Kind::Gemm;
  layer.is_transposed = int_attribute(node, "transB", 0) != 0;
  layer.alpha = float_attribute(node, "alpha", 1);
  layer.beta = float_attribute(node, "beta", 1);
  layer.inputs = {shape[layer.is_transposed ? 1 : 0], 2, 0};
  layer.outputs = {shape[layer.is_transposed ? 0 : 1], 2, 0};
  return layer;
}

std::optional<Layer> matmul(const GraphEditor& graph, const onnx::NodeProto& node, Layer layer) {
  const auto& shape = layer.weight_shape;
  if (shape.size() != 2) return std::nullopt;
  layer.kind = Layer::Kind::MatMul;
  const auto data = graph.shape(node.input(0));
  const int rank = data ? static_cast<int>(data->size()) : 1;
  layer.inputs = {shape[0], rank, 0};
  layer.outputs = {shape[1], rank, 0};
  return layer;
}

template <typename ChannelOf>
std::optional<onnx::TensorProto> scaled(const GraphEditor& graph, const Layer& layer,
                                        const std::vector<double>& factor,
                                        const ChannelOf& channel_of) {
  const std::string& name = graph.node(layer.node).input(1);
  auto values = *graph.floats(name);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factor[channel_of(i)];
  return encoded(graph.type(name), layer.weight_shape, values);
}

}  // namespace

std::optional<Layer> layer_at(const GraphEditor& graph, int index) {
  if (index < 0 || graph.is_removed(index)) return std::nullopt;
  const auto& node = graph.node(index);
  if (!is_default_domain(node.domain()) || node.input_size() < 2 || node.output_size() != 1)
    return std::nullopt;
  const auto* weight = graph.constant(node.input(1));
  if (!weight || !is_encodable(element_type(*weight)) || element_count(*weight) == 0 ||
      node.input(0) == node.input(1))
    return std::nullopt;
  Layer layer;
  layer.node = index;
  layer.weight_shape.assign(weight->dims().begin(), weight->dims().end());
  if (node.op_type() == "Conv") return convolution(node, layer, false);
  if (node.op_type() == "ConvTranspose") return convolution(node, layer, true);
  if (node.op_type() == "Gemm") return gemm(node, layer);
  if (node.op_type() == "MatMul") return matmul(graph, node, layer);
  return std::nullopt;
}

/// Conv: weight [outputs, inputs of a group, …]; ConvTranspose: [inputs, outputs of a group, …],
/// the inputs of each group make outputs of its own.
std::size_t Layer::input_of(std::size_t i) const {
  const std::size_t inner = product_from(weight_shape, 2);
  if (kind == Kind::Conv) {
    const auto group_inputs = static_cast<std::size_t>(weight_shape[1]);
    const std::size_t row = i / inner / group_inputs;
    const std::size_t group = row / static_cast<std::size_t>(weight_shape[0] / groups);
    return group * group_inputs + i / inner % group_inputs;
  }
  if (kind == Kind::ConvTranspose) return i / inner / static_cast<std::size_t>(weight_shape[1]);
  const auto columns = static_cast<std::size_t>(weight_shape[1]);
  return is_transposed ? i % columns : i / columns;
}

std::size_t Layer::output_of(std::size_t i) const {
  const std::size_t inner = product_from(weight_shape, 2);
  if (kind == Kind::Conv) return i / inner / static_cast<std::size_t>(weight_shape[1]);
  if (kind == Kind::ConvTranspose) {
    const auto group_outputs = static_cast<std::size_t>(weight_shape[1]);
    const std::size_t row = i / inner / group_outputs;
    const std::size_t group = row / static_cast<std::size_t>(weight_shape[0] / groups);
    return group * group_outputs + i / inner % group_outputs;
  }
  const auto columns = static_cast<std::size_t>(weight_shape[1]);
  return is_transposed ? i / columns : i % columns;
}

std::optional<onnx::TensorProto> weight_by_input(const GraphEditor& graph, const Layer& layer,
                                                 const std::vector<double>& factor) {
  return scaled(graph, layer, factor, [&](std::size_t i) { return layer.input_of(i); });
}

std::optional<onnx::TensorProto> weight_by_output(const GraphEditor& graph, const Layer& layer,
                                                  const std::vector<double>& factor) {
  return scaled(graph, layer, factor, [&](std::size_t i) { return layer.output_of(i); });
}

std::optional<std::vector<double>> bias_of(const GraphEditor& graph, const Layer& layer,
                                           const std::string& name, double beta) {
  const auto count = static_cast<std::size_t>(layer.outputs.count);
  std::vector<double> bias(count, 0.0);
  if (name.empty()) return bias;
  const auto* tensor = graph.constant(name);
  const auto values = graph.floats(name);
  if (!values || values->empty()) return std::nullopt;
  // One value for all channels, or one per channel along the last axis.
  const auto last =
      tensor->dims_size() == 0 ? std::int64_t{1} : tensor->dims(tensor->dims_size() - 1);
  if (values->size() != static_cast<std::size_t>(last) || (last != 1 && values->size() != count))
    return std::nullopt;
  for (std::size_t c = 0; c < count; ++c) bias[c] = (*values)[last == 1 ? 0 : c] * beta;
  return bias;
}

bool set_weight_and_bias(GraphEditor& graph, const Layer& layer, onnx::TensorProto weight,
                         const std::vector<double>& bias) {
  auto tensor = encoded(element_type(weight), {layer.outputs.count}, bias);
  if (!tensor) return false;
  graph.set_constant(layer.node, 1, std::move(weight), "weight");
  graph.set_constant(layer.node, 2, std::move(*tensor), "bias");
  if (layer.kind == Layer::Kind::Gemm) drop_attribute(graph.edit(layer.node), "beta");
  return true;
}

}  // namespace qtool
