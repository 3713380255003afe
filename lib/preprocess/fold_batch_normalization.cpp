#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/float_values.h"
#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// What a normalization does to each channel: y = x * factor + offset.
struct Affine {
  std::vector<double> factor;
  std::vector<double> offset;

  std::int64_t channels() const { return static_cast<std::int64_t>(factor.size()); }
};

/// `values` as a tensor like `like`; nothing where one of them is no number of that type.
std::optional<onnx::TensorProto> encoded(const onnx::TensorProto& like,
                                         std::span<const std::int64_t> shape,
                                         std::span<const double> values) {
  const ElementType type = element_type(like);
  Tensor tensor{
      .type = type, .shape = {shape.begin(), shape.end()}, .bytes = encode_floats(type, values)};
  const auto rounded = to_float64(tensor);
  if (!std::ranges::all_of(rounded, [](double value) { return std::isfinite(value); }))
    return std::nullopt;
  return make_tensor({}, type, shape, tensor.bytes);
}

/// Folds the normalizations of one graph in the order of its nodes: what took one normalization's
/// place can take the next.
class GraphFolder {
 public:
  GraphFolder(Model& model, onnx::GraphProto& graph, NameAllocator& names);
  void run();

 private:
  bool fold(int i);
  std::optional<Affine> affine_of(const onnx::NodeProto& node) const;
  int sole_producer(const std::string& value) const;

  bool fold_into_conv(onnx::NodeProto& node, const Affine& affine);
  bool fold_into_conv_transpose(onnx::NodeProto& node, const Affine& affine);
  bool fold_into_gemm(onnx::NodeProto& node, const Affine& affine);
  bool fold_into_matmul_add(onnx::NodeProto& add, const Affine& affine);
  bool fold_into_matmul(onnx::NodeProto& matmul, onnx::NodeProto& normalization,
                        const Affine& affine);
  template <typename ChannelOf>
  bool fold_into_layer(onnx::NodeProto& node, const Affine& affine, double beta,
                       const ChannelOf& channel_of);

  template <typename ChannelOf>
  std::optional<onnx::TensorProto> scaled(const onnx::TensorProto& weight, const Affine& affine,
                                          const ChannelOf& channel_of) const;
  std::optional<onnx::TensorProto> shifted(const std::string& bias, double beta,
                                           const Affine& affine,
                                           const onnx::TensorProto& weight) const;

  const onnx::TensorProto* initializer(const std::string& name) const;
  std::optional<std::vector<double>> constant(const std::string& name) const;
  const onnx::TensorProto* matrix_of(const onnx::NodeProto& matmul, const Affine& affine) const;
  void set_constant(onnx::NodeProto& node, int slot, onnx::TensorProto value,
                    const std::string& role);

  Model& model_;
  onnx::GraphProto& graph_;
  NameAllocator& names_;
  std::unordered_map<std::string, int> producers_;
  std::unordered_map<std::string, int>
      initializers_;  ///< those that no caller can give another value
  std::unordered_map<std::string, int> use_counts_;
  std::unordered_map<std::string, int> ranks_;
};

GraphFolder::GraphFolder(Model& model, onnx::GraphProto& graph, NameAllocator& names)
    : model_(model), graph_(graph), names_(names) {
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const auto& output : graph.node(i).output()) producers_[output] = i;
  }
  for (int i = 0; i < graph.initializer_size(); ++i) initializers_[graph.initializer(i).name()] = i;
  for (const auto& input : graph.input()) initializers_.erase(input.name());
  for_each_graph(std::as_const(graph), [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) {
      for (const auto& input : node.input()) ++use_counts_[input];
    }
    for (const auto& output : each.output()) ++use_counts_[output.name()];
  });
  const auto note_rank = [&](const onnx::ValueInfoProto& value) {
    const auto& type = value.type().tensor_type();
    if (type.has_shape()) ranks_[value.name()] = type.shape().dim_size();
  };
  std::ranges::for_each(graph.input(), note_rank);
  std::ranges::for_each(graph.value_info(), note_rank);
}

void GraphFolder::run() {
  std::vector<bool> is_folded(static_cast<std::size_t>(graph_.node_size()));
  for (int i = 0; i < graph_.node_size(); ++i) is_folded[i] = fold(i);
  int kept = 0;
  for (int i = 0; i < graph_.node_size(); ++i) {
    if (!is_folded[i]) graph_.mutable_node()->SwapElements(kept++, i);
  }
  graph_.mutable_node()->DeleteSubrange(kept, graph_.node_size() - kept);
}

/// Whether node `i` is a normalization that the node before it now does.
bool GraphFolder::fold(int i) {
  auto& node = *graph_.mutable_node(i);
  const auto affine = affine_of(node);
  const int before = affine ? sole_producer(node.input(0)) : -1;
  if (before < 0 || !is_default_domain(graph_.node(before).domain())) return false;
  auto& layer = *graph_.mutable_node(before);
  const std::string& op_type = layer.op_type();
  if (op_type == "MatMul") {
    fold_into_matmul(layer, node, *affine);
    return false;
  }
  const bool done = (op_type == "Conv" && fold_into_conv(layer, *affine)) ||
                    (op_type == "ConvTranspose" && fold_into_conv_transpose(layer, *affine)) ||
                    (op_type == "Gemm" && fold_into_gemm(layer, *affine)) ||
                    (op_type == "Add" && fold_into_matmul_add(layer, *affine));
  if (!done) return false;
  layer.set_output(0, node.output(0));
  producers_[node.output(0)] = before;
  return true;
}

/// What `node` does where it is a normalization by constants, in the form for inference.
std::optional<Affine> GraphFolder::affine_of(const onnx::NodeProto& node) const {
  if (node.op_type() != "BatchNormalization" || !is_default_domain(node.domain()) ||
      node.input_size() != 5)
    return {};
  if (int_attribute(node, "training_mode", 0) != 0 || int_attribute(node, "spatial", 1) == 0)
    return {};
  const auto is_set = [](const std::string& name) { return !name.empty(); };
  if (std::count_if(node.output().begin(), node.output().end(), is_set) != 1) return {};
  const auto scale = constant(node.input(1)), bias = constant(node.input(2));
  const auto mean = constant(node.input(3)), variance = constant(node.input(4));
  if (!scale || !bias || !mean || !variance) return {};
  const std::size_t count = scale->size();
  if (count == 0 || bias->size() != count || mean->size() != count || variance->size() != count)
    return {};
  const double epsilon = float_attribute(node, "epsilon", 1e-5F);
  Affine affine;
  for (std::size_t c = 0; c < count; ++c) {
    affine.factor.push_back((*scale)[c] / std::sqrt((*variance)[c] + epsilon));
    affine.offset.push_back((*bias)[c] - (*mean)[c] * affine.factor[c]);
  }
  return affine;
}

/// The node that makes `value`, where nothing else reads it; or -1.
int GraphFolder::sole_producer(const std::string& value) const {
  const auto producer = producers_.find(value);
  const auto uses = use_counts_.find(value);
  return producer != producers_.end() && uses != use_counts_.end() && uses->second == 1
             ? producer->second
             : -1;
}

/// Weight [channels, …].
bool GraphFolder::fold_into_conv(onnx::NodeProto& node, const Affine& affine) {
  const auto* weight = initializer(node.input(1));
  if (!weight || weight->dims_size() < 3 || weight->dims(0) != affine.channels()) return false;
  const std::size_t inner = element_count(*weight) / affine.factor.size();
  return fold_into_layer(node, affine, 1, [&](std::size_t i) { return i / inner; });
}

/// Weight [inputs, channels of a group, …]: the inputs of each group make channels of its own.
bool GraphFolder::fold_into_conv_transpose(onnx::NodeProto& node, const Affine& affine) {
  const auto* weight = initializer(node.input(1));
  const std::int64_t groups = int_attribute(node, "group", 1);
  if (!weight || weight->dims_size() < 3 || groups <= 0) return false;
  const std::int64_t inputs = weight->dims(0);
  const std::int64_t group_channels = weight->dims(1);
  if (inputs == 0 || inputs % groups != 0 || group_channels * groups != affine.channels())
    return false;
  const std::int64_t inner =
      static_cast<std::int64_t>(element_count(*weight)) / (inputs * group_channels);
  return fold_into_layer(node, affine, 1, [&](std::size_t i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / inner;
    const std::int64_t group = row / group_channels / (inputs / groups);
    return static_cast<std::size_t>(group * group_channels + row % group_channels);
  });
}

/// Weight [inputs, channels], or the other way round with transB.
bool GraphFolder::fold_into_gemm(onnx::NodeProto& node, const Affine& affine) {
  const auto* weight = initializer(node.input(1));
  const bool is_transposed = int_attribute(node, "transB", 0) != 0;
  if (!weight || weight->dims_size() != 2 ||
      weight->dims(is_transposed ? 0 : 1) != affine.channels())
    return false;
  const std::size_t channels = affine.factor.size();
  const std::size_t inner = is_transposed ? element_count(*weight) / channels : 1;
  const double beta = float_attribute(node, "beta", 1);
  if (!fold_into_layer(node, affine, beta, [&](std::size_t i) { return i / inner % channels; }))
    return false;
  auto& attributes = *node.mutable_attribute();
  const auto is_beta = [](const onnx::AttributeProto& attribute) {
    return attribute.name() == "beta";
  };
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(), is_beta), attributes.end());
  return true;
}

/// Scales weight (input 1) and bias (input 2) of a layer that multiplies the latter by `beta`.
template <typename ChannelOf>
bool GraphFolder::fold_into_layer(onnx::NodeProto& node, const Affine& affine, double beta,
                                  const ChannelOf& channel_of) {
  const auto& old_weight = *initializer(node.input(1));
  auto weight = scaled(old_weight, affine, channel_of);
  auto bias =
      shifted(node.input_size() > 2 ? node.input(2) : std::string(), beta, affine, old_weight);
  if (!weight || !bias) return false;
  set_constant(node, 1, std::move(*weight), "weight");
  set_constant(node, 2, std::move(*bias), "bias");
  return true;
}

/// MatMul and the Add of a bias after it, on matrices: further axes would make another one the
/// channels.
bool GraphFolder::fold_into_matmul_add(onnx::NodeProto& add, const Affine& affine) {
  if (add.input_size() != 2) return false;
  const int bias_slot = initializer(add.input(1)) ? 1 : 0;
  const int before = sole_producer(add.input(1 - bias_slot));
  if (before < 0) return false;
  auto& matmul = *graph_.mutable_node(before);
  const auto* matrix = matrix_of(matmul, affine);
  const auto* addend = initializer(add.input(bias_slot));
  if (!matrix || !addend || addend->dims_size() > 2) return false;
  auto weight = scaled(*matrix, affine, [&](std::size_t i) { return i % affine.factor.size(); });
  auto bias = shifted(add.input(bias_slot), 1, affine, *matrix);
  if (!weight || !bias) return false;
  set_constant(matmul, 1, std::move(*weight), "weight");
  set_constant(add, bias_slot, std::move(*bias), "bias");
  return true;
}

/// A MatMul has no bias: the normalization becomes the Add of one.
bool GraphFolder::fold_into_matmul(onnx::NodeProto& matmul, onnx::NodeProto& normalization,
                                   const Affine& affine) {
  const auto* matrix = matrix_of(matmul, affine);
  if (!matrix) return false;
  auto weight = scaled(*matrix, affine, [&](std::size_t i) { return i % affine.factor.size(); });
  auto bias = shifted({}, 1, affine, *matrix);
  if (!weight || !bias) return false;
  set_constant(matmul, 1, std::move(*weight), "weight");
  normalization.set_op_type("Add");
  normalization.clear_attribute();
  normalization.mutable_input()->DeleteSubrange(1, 4);
  set_constant(normalization, 1, std::move(*bias), "bias");
  return true;
}

/// The constant matrix that a MatMul multiplies a matrix by.
const onnx::TensorProto* GraphFolder::matrix_of(const onnx::NodeProto& matmul,
                                                const Affine& affine) const {
  if (matmul.op_type() != "MatMul" || !is_default_domain(matmul.domain()) ||
      matmul.input_size() != 2)
    return nullptr;
  const auto rank = ranks_.find(matmul.input(0));
  const auto* matrix = initializer(matmul.input(1));
  const bool fits = rank != ranks_.end() && rank->second == 2 && matrix &&
                    matrix->dims_size() == 2 && matrix->dims(1) == affine.channels();
  return fits ? matrix : nullptr;
}

template <typename ChannelOf>
std::optional<onnx::TensorProto> GraphFolder::scaled(const onnx::TensorProto& weight,
                                                     const Affine& affine,
                                                     const ChannelOf& channel_of) const {
  if (!is_encodable(element_type(weight))) return std::nullopt;
  auto values = to_float64(model_.tensor(weight));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= affine.factor[channel_of(i)];
  const std::vector<std::int64_t> shape(weight.dims().begin(), weight.dims().end());
  return encoded(weight, shape, values);
}

/// The bias behind the normalization, one value per channel, in the weight's type; an empty name is
/// no bias.
std::optional<onnx::TensorProto> GraphFolder::shifted(const std::string& bias, double beta,
                                                      const Affine& affine,
                                                      const onnx::TensorProto& weight) const {
  std::vector<double> values(affine.factor.size(), 0.0);
  if (!bias.empty()) {
    const auto* tensor = initializer(bias);
    const auto before = constant(bias);
    if (!before) return std::nullopt;
    // One value for all channels, or one per channel along the last axis.
    const std::size_t last = tensor->dims_size() == 0
                                 ? 1
                                 : static_cast<std::size_t>(tensor->dims(tensor->dims_size() - 1));
    if (before->size() != last || (last != 1 && last != values.size())) return std::nullopt;
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = (*before)[last == 1 ? 0 : c] * beta;
  }
  for (std::size_t c = 0; c < values.size(); ++c)
    values[c] = values[c] * affine.factor[c] + affine.offset[c];
  return encoded(weight, std::array{affine.channels()}, values);
}

const onnx::TensorProto* GraphFolder::initializer(const std::string& name) const {
  const auto found = initializers_.find(name);
  return found == initializers_.end() ? nullptr : &graph_.initializer(found->second);
}

std::optional<std::vector<double>> GraphFolder::constant(const std::string& name) const {
  const auto* tensor = initializer(name);
  if (!tensor || !is_encodable(element_type(*tensor))) return std::nullopt;
  return to_float64(model_.tensor(*tensor));
}

/// Gives an input a new constant: under the old one's name where nobody else reads that, else under
/// a new one.
void GraphFolder::set_constant(onnx::NodeProto& node, int slot, onnx::TensorProto value,
                               const std::string& role) {
  while (node.input_size() <= slot) node.add_input("");
  const std::string old = node.input(slot);
  const auto found = initializers_.find(old);
  if (found != initializers_.end() && use_counts_[old] == 1) {
    value.set_name(old);
    *graph_.mutable_initializer(found->second) = std::move(value);
    return;
  }
  const std::string name =
      names_.unique((node.name().empty() ? node.output(0) : node.name()) + "_" + role);
  value.set_name(name);
  node.set_input(slot, name);
  --use_counts_[old];
  use_counts_[name] = 1;
  initializers_[name] = graph_.initializer_size();
  *graph_.add_initializer() = std::move(value);
}

}  // namespace

void fold_batch_normalization(Model& model) {
  NameAllocator names(model.graph());
  for_each_graph(model.graph(),
                 [&](onnx::GraphProto& graph) { GraphFolder(model, graph, names).run(); });
}

}  // namespace qtool
