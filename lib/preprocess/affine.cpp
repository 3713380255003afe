#include "preprocess/affine.h"

#include <algorithm>
#include <cmath>

#include "model/float_values.h"

namespace qtool {
namespace {

using Values = std::vector<double>;

/// The constant's value for each channel; nothing where it differs within one, or makes the result
/// another shape than the data.
std::optional<Values> per_channel(const GraphEditor& graph, const std::string& name,
                                  const Channels& channels) {
  const auto* tensor = graph.constant(name);
  const auto values = graph.floats(name);
  if (!values || values->empty() || tensor->dims_size() > channels.rank) return std::nullopt;
  for (int behind = 0; behind < tensor->dims_size(); ++behind) {
    const std::int64_t size = tensor->dims(tensor->dims_size() - 1 - behind);
    if (size != 1 && (behind != channels.axes_behind || size != channels.count))
      return std::nullopt;
  }
  if (values->size() == 1) return Values(static_cast<std::size_t>(channels.count), values->front());
  return values;
}

std::optional<Affine> batch_normalization(const GraphEditor& graph, const onnx::NodeProto& node,
                                          const Channels& channels) {
  if (node.input_size() != 5 || channels.axes_behind != channels.rank - 2) return {};
  if (int_attribute(node, "training_mode", 0) != 0 || int_attribute(node, "spatial", 1) == 0)
    return {};
  const auto is_set = [](const std::string& name) { return !name.empty(); };
  if (std::count_if(node.output().begin(), node.output().end(), is_set) != 1) return {};
  const auto scale = graph.floats(node.input(1)), bias = graph.floats(node.input(2));
  const auto mean = graph.floats(node.input(3)), variance = graph.floats(node.input(4));
  if (!scale || !bias || !mean || !variance) return {};
  const auto count = static_cast<std::size_t>(channels.count);
  if (scale->size() != count || bias->size() != count || mean->size() != count ||
      variance->size() != count)
    return {};
  const double epsilon = float_attribute(node, "epsilon", 1e-5F);
  Affine affine;
  for (std::size_t c = 0; c < count; ++c) {
    affine.factor.push_back((*scale)[c] / std::sqrt((*variance)[c] + epsilon));
    affine.offset.push_back((*bias)[c] - (*mean)[c] * affine.factor[c]);
  }
  return affine;
}

std::optional<Affine> arithmetic(const GraphEditor& graph, const onnx::NodeProto& node, int slot,
                                 const Channels& channels) {
  const std::string& op = node.op_type();
  const bool is_known = op == "Mul" || op == "Div" || op == "Add" || op == "Sub";
  if (!is_known || node.input_size() != 2 || node.input(0) == node.input(1)) return {};
  if (op == "Div" && slot != 0) return {};
  // Before opset 7 an attribute says which axes meet.
  if (find_attribute(node, "axis")) return {};
  const auto values = per_channel(graph, node.input(1 - slot), channels);
  if (!values) return {};
  const auto count = static_cast<std::size_t>(channels.count);
  Affine affine{Values(count, 1), Values(count, 0)};
  for (std::size_t c = 0; c < count; ++c) {
    const double value = (*values)[c];
    if (op == "Mul") affine.factor[c] = value;
    if (op == "Div") affine.factor[c] = 1 / value;
    if (op == "Add") affine.offset[c] = value;
    if (op == "Sub") affine.offset[c] = slot == 0 ? -value : value;
    if (op == "Sub" && slot == 1) affine.factor[c] = -1;
  }
  return affine;
}

}  // namespace

bool Affine::has_factor() const {
  return std::ranges::any_of(factor, [](double value) { return value != 1; });
}

bool Affine::has_offset() const {
  return std::ranges::any_of(offset, [](double value) { return value != 0; });
}

Affine Affine::after(const Affine& first) const {
  Affine both = first;
  for (std::size_t c = 0; c < factor.size(); ++c) {
    both.factor[c] *= factor[c];
    both.offset[c] = both.offset[c] * factor[c] + offset[c];
  }
  return both;
}

std::optional<Affine> affine_of(const GraphEditor& graph, int index, int slot,
                                const Channels& channels) {
  const auto& node = graph.node(index);
  if (graph.is_removed(index) || !is_default_domain(node.domain()) || channels.count <= 0)
    return {};
  if (node.op_type() == "BatchNormalization")
    return slot == 0 ? batch_normalization(graph, node, channels) : std::nullopt;
  return arithmetic(graph, node, slot, channels);
}

std::optional<onnx::TensorProto> encoded(ElementType type, const std::vector<std::int64_t>& shape,
                                         const std::vector<double>& values) {
  Tensor tensor{.type = type, .shape = shape, .bytes = encode_floats(type, values)};
  const auto rounded = to_float64(tensor);
  if (!std::ranges::all_of(rounded, [](double value) { return std::isfinite(value); }))
    return std::nullopt;
  return make_tensor({}, type, shape, tensor.bytes);
}

}  // namespace qtool
