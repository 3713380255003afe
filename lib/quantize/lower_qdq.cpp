#include "quantize/lower_qdq.h"

#include <cstring>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/graph_view.h"
#include "quantize/bias.h"
#include "quantize/constants.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;

/// One rewriting of one graph. New nodes gather in `front_` and behind the node that makes their
/// input, so that the order stays topological.
class QdqLowering {
 public:
  QdqLowering(Model& model, const QuantPlan& plan)
      : model_(model), plan_(plan), view_(model.graph()), names_(model.graph()) {
    nodes_.assign(model.graph().node().begin(), model.graph().node().end());
    behind_.resize(nodes_.size());
    is_removed_.resize(nodes_.size(), false);
    param_names_.resize(plan.tensors.size());
  }

  void run() {
    for (const FoldedNode& folded : plan_.folded) fold(folded);
    for (const int node : plan_.scaled_biases)
      set_beta_to_one(nodes_[static_cast<std::size_t>(node)]);
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) lower_tensor(i);
    assemble();
  }

 private:
  struct ParamNames {
    std::string scale, zero_point;
  };

  void fold(const FoldedNode& folded);
  static void set_beta_to_one(onnx::NodeProto& node);
  void lower_tensor(std::size_t index);
  void lower_activation(std::size_t index);
  void lower_constant(std::size_t index);
  Tensor bias_of(const TensorPlan& tensor) const;
  std::string rename_output(int maker, const std::string& name);
  const ParamNames& params_of(std::size_t index, const std::string& stem);
  void redirect(const TensorPlan& tensor, const std::string& to);
  onnx::NodeProto make_node(const char* op_type, const std::string& stem,
                            std::vector<std::string> inputs, const std::string& output,
                            const QuantParams& params);
  void add_initializer(onnx::TensorProto tensor) { added_.push_back(std::move(tensor)); }
  void assemble();
  void drop_unused_initializers();
  void drop_stale_value_info();

  Model& model_;
  const QuantPlan& plan_;
  GraphView view_;
  NameAllocator names_;
  std::vector<onnx::NodeProto> nodes_;
  std::vector<std::vector<onnx::NodeProto>> behind_;
  std::vector<bool> is_removed_;
  std::vector<onnx::NodeProto> front_;
  std::vector<ParamNames> param_names_;
  std::vector<onnx::TensorProto> added_;
  std::unordered_map<std::string, int>
      moved_producer_;                       ///< output of a folded node -> node that makes it now
  std::unordered_set<std::string> touched_;  ///< initializers that some reader no longer reads
};

template <typename Value>
std::span<const std::byte> bytes_of(const std::vector<Value>& values) {
  return std::as_bytes(std::span(values));
}

onnx::TensorProto integer_tensor(std::string name, ElementType type,
                                 std::span<const std::int64_t> shape,
                                 const std::vector<std::int32_t>& values) {
  std::vector<std::byte> bytes(packed_bytes(type, values.size()));
  const std::size_t size = element_bits(type) / 8;
  // Little-endian two's complement: the low bytes are the value in the narrower type.
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(bytes.data() + i * size, &values[i], size);
  return make_tensor(std::move(name), type, shape, bytes);
}

void QdqLowering::fold(const FoldedNode& folded) {
  const int producer = view_.producer_of(folded.input);
  // A chain of folded nodes ends at the node that computes.
  const auto moved = moved_producer_.find(folded.input);
  const int maker = moved == moved_producer_.end() ? producer : moved->second;
  for (auto& output : *nodes_[static_cast<std::size_t>(maker)].mutable_output()) {
    if (output == folded.input) output = folded.output;
  }
  moved_producer_[folded.output] = maker;
  is_removed_[static_cast<std::size_t>(folded.node)] = true;
}

void QdqLowering::set_beta_to_one(onnx::NodeProto& node) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == "beta") attribute.set_f(1.0F);
  }
}

void QdqLowering::lower_tensor(std::size_t index) {
  if (plan_.tensors[index].role == Role::Activation) {
    lower_activation(index);
  } else {
    lower_constant(index);
  }
}

/// Has node `maker` write `name` under another name, which is returned.
std::string QdqLowering::rename_output(int maker, const std::string& name) {
  const std::string renamed = names_.unique(name + "_QuantizeLinear_Input");
  for (auto& output : *nodes_[static_cast<std::size_t>(maker)].mutable_output()) {
    if (output == name) output = renamed;
  }
  return renamed;
}

void QdqLowering::lower_activation(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  const ParamNames params = params_of(index, tensor.name);
  const auto moved = moved_producer_.find(tensor.name);
  const int maker = moved == moved_producer_.end() ? view_.producer_of(tensor.name) : moved->second;
  // A value that is seen from outside keeps its name for the dequantized one, so its maker writes
  // another.
  const bool keeps_name = tensor.replaces_value && maker >= 0 &&
                          (view_.is_graph_output(tensor.name) || view_.is_captured(tensor.name));
  const std::string input = keeps_name ? rename_output(maker, tensor.name) : tensor.name;
  const std::string quantized = names_.unique(tensor.name + "_QuantizeLinear_Output");
  const std::string output =
      keeps_name ? tensor.name : names_.unique(tensor.name + "_DequantizeLinear_Output");
  auto& place = maker < 0 ? front_ : behind_[static_cast<std::size_t>(maker)];
  place.push_back(make_node("QuantizeLinear", tensor.name, {input, params.scale, params.zero_point},
                            quantized, tensor.params));
  place.push_back(make_node("DequantizeLinear", tensor.name,
                            {quantized, params.scale, params.zero_point}, output, tensor.params));
  if (!keeps_name) redirect(tensor, output);
}

Tensor QdqLowering::bias_of(const TensorPlan& tensor) const {
  if (!tensor.values.empty()) return float_tensor(tensor.shape, tensor.values);
  const Tensor values = model_.tensor(*view_.initializer(tensor.name));
  return *stored_bias(values, tensor.params.scales.size(), tensor.factor);
}

void QdqLowering::lower_constant(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  const std::string stored = names_.unique(tensor.name + "_quantized");
  if (tensor.role == Role::Bias) {
    const Tensor bias = bias_of(tensor);
    add_initializer(
        make_tensor(stored, tensor.params.type, bias.shape, quantize_bias(bias, tensor.params)));
  } else {
    const Tensor values = model_.tensor(*view_.initializer(tensor.name));
    add_initializer(make_tensor(stored, tensor.params.type, values.shape,
                                quantize_constant(values, tensor.params)));
  }
  const ParamNames params = params_of(index, tensor.role == Role::Bias ? stored : tensor.name);
  const std::string output = names_.unique(tensor.name + "_DequantizeLinear_Output");
  front_.push_back(make_node("DequantizeLinear", tensor.name,
                             {stored, params.scale, params.zero_point}, output, tensor.params));
  redirect(tensor, output);
  touched_.insert(tensor.name);
}

/// Names of the scale and the zero point of a plan, stored on first use.
const QdqLowering::ParamNames& QdqLowering::params_of(std::size_t index, const std::string& stem) {
  const TensorPlan& tensor = plan_.tensors[index];
  if (tensor.provider >= 0) {
    const auto provider = static_cast<std::size_t>(tensor.provider);
    return params_of(provider, plan_.tensors[provider].name);
  }
  ParamNames& names = param_names_[index];
  if (!names.scale.empty()) return names;
  names = {names_.unique(stem + "_scale"), names_.unique(stem + "_zero_point")};
  const auto count = static_cast<std::int64_t>(tensor.params.scales.size());
  const std::vector<std::int64_t> shape =
      tensor.params.axis ? std::vector{count} : std::vector<std::int64_t>{};
  add_initializer(
      integer_tensor(names.zero_point, tensor.params.type, shape, tensor.params.zero_points));
  add_initializer(
      make_tensor(names.scale, ElementType::Float, shape, bytes_of(tensor.params.scales)));
  return names;
}

void QdqLowering::redirect(const TensorPlan& tensor, const std::string& to) {
  for (const Use& use : tensor.uses) {
    onnx::NodeProto& node = nodes_[static_cast<std::size_t>(use.node)];
    while (node.input_size() <= use.slot) node.add_input("");
    node.set_input(use.slot, to);
  }
}

onnx::NodeProto QdqLowering::make_node(const char* op_type, const std::string& stem,
                                       std::vector<std::string> inputs, const std::string& output,
                                       const QuantParams& params) {
  onnx::NodeProto node;
  node.set_name(names_.unique(stem + "_" + op_type));
  node.set_op_type(op_type);
  for (std::string& input : inputs) node.add_input(std::move(input));
  node.add_output(output);
  if (params.axis) {
    auto& attribute = *node.add_attribute();
    attribute.set_name("axis");
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(*params.axis);
  }
  return node;
}

void QdqLowering::drop_unused_initializers() {
  const GraphView view(model_.graph());
  auto& initializers = *model_.graph().mutable_initializer();
  int kept = 0;
  for (int i = 0; i < initializers.size(); ++i) {
    const std::string& name = initializers.Get(i).name();
    const bool is_read =
        !view.uses_of(name).empty() || view.is_captured(name) || view.is_graph_output(name);
    if (!is_read && touched_.contains(name)) continue;
    if (kept != i) initializers.SwapElements(kept, i);
    ++kept;
  }
  initializers.DeleteSubrange(kept, initializers.size() - kept);
}

void QdqLowering::drop_stale_value_info() {
  std::unordered_set<std::string_view> gone;
  for (const FoldedNode& folded : plan_.folded) gone.insert(folded.input);
  auto& infos = *model_.graph().mutable_value_info();
  int kept = 0;
  for (int i = 0; i < infos.size(); ++i) {
    if (gone.contains(infos.Get(i).name())) continue;
    if (kept != i) infos.SwapElements(kept, i);
    ++kept;
  }
  infos.DeleteSubrange(kept, infos.size() - kept);
}

void QdqLowering::assemble() {
  auto& graph = model_.graph();
  graph.clear_node();
  for (auto& node : front_) *graph.add_node() = std::move(node);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!is_removed_[i]) *graph.add_node() = std::move(nodes_[i]);
    for (auto& node : behind_[i]) *graph.add_node() = std::move(node);
  }
  for (auto& tensor : added_) *graph.add_initializer() = std::move(tensor);
  drop_unused_initializers();
  drop_stale_value_info();
}

}  // namespace

Model lower_to_qdq(Model model, const QuantPlan& plan) {
  QdqLowering(model, plan).run();
  return model;
}

}  // namespace qtool
