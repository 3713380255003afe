#include <algorithm>
#include <utility>

#include "base/heap.h"
#include "model/attributes.h"
#include "quantize/bias.h"
#include "quantize/constants.h"
#include "quantize/qdq_lowering.h"

namespace qtool {

/// The rewriting of the graph that has the constant.
QdqLowering& QdqLowering::owner_of(const std::string& constant) {
  QdqLowering* owner = this;
  while (owner->outer_ && !owner->view_.defines(constant)) owner = owner->outer_;
  return *owner;
}

void QdqLowering::lower_constant(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  QdqLowering& owner = owner_of(tensor.name);
  const StoredConstant stored = tensor.provider >= 0 ? owner.add_constant(tensor, params_of(index))
                                                     : owner.stored_constant(tensor);
  param_names_[index] = stored.names;
  const std::string output = names_.unique(tensor.name + "_DequantizeLinear_Output");
  owner.touched_.insert(tensor.name);
  if (tensor.keeps_float) {
    const std::string quantized = names_.unique(tensor.name + "_QuantizeLinear_Output");
    add_pair(-1, {tensor.name, tensor.name, quantized, output}, stored.names, tensor.params);
  } else {
    add_node(-1, "DequantizeLinear", tensor.name + "_DequantizeLinear",
             {stored.values, stored.names.scale, stored.names.zero_point}, output, tensor.params);
  }
  redirect(tensor.uses, output);
}

/// A constant of this graph as it is stored with scales and zero points of its own.
StoredConstant QdqLowering::stored_constant(const TensorPlan& tensor) {
  const auto [first, last] = stored_.equal_range(tensor.name);
  const auto known = std::find_if(first, last, [&](const auto& entry) {
    return are_stored_alike(entry.second.params, tensor.params);
  });
  // onnxruntime.quantization stores one per kind of reader.
  if (known != last && plan_.convention == Convention::Own) return known->second;
  const ParamNames names =
      add_params(tensor.params, {tensor.name + "_scale", tensor.name + "_zero_point"});
  return stored_.emplace(tensor.name, add_constant(tensor, names))->second;
}

StoredConstant QdqLowering::add_constant(const TensorPlan& tensor, const ParamNames& names) {
  // A free piece of the heap that was large enough for the values would stay resident.
  constexpr std::size_t kLargeBytes = std::size_t{1} << 24;
  if (tensor.keeps_float) return {tensor.params, {}, names};
  const std::string stored = names_.unique(tensor.name + "_quantized");
  Tensor values = model_.tensor(*view_.initializer(tensor.name));
  add_initializer(make_tensor(stored, tensor.params.type, values.shape,
                              quantize_constant(values, tensor.params)));
  if (std::exchange(values, {}).bytes.size() >= kLargeBytes) trim_heap();
  return {tensor.params, stored, names};
}

namespace {

const std::string& values_name(const TensorPlan& tensor) {
  return tensor.initializer.empty() ? tensor.name : tensor.initializer;
}

}  // namespace

Tensor QdqLowering::bias_of(const TensorPlan& tensor) const {
  if (!tensor.values.empty()) return float_tensor(tensor.shape, tensor.values);
  const Tensor values = model_.tensor(*view_.initializer(values_name(tensor)));
  Tensor stored = *stored_bias(values, tensor.params.scales.size(), tensor.factor);
  stored.shape = tensor.shape;
  return stored;
}

/// What the bias's readers read: its own name where it is free or becomes so.
std::string QdqLowering::bias_output(const TensorPlan& tensor) {
  if (tensor.replaces_value) return tensor.name;
  if (tensor.name != values_name(tensor)) return names_.unique(tensor.name);
  return names_.unique(tensor.name + "_DequantizeLinear_Output");
}

void QdqLowering::lower_bias(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  const Tensor bias = bias_of(tensor);
  const std::string stored = names_.unique(tensor.name + "_quantized");
  owner_of(values_name(tensor)).touched_.insert(values_name(tensor));
  if (tensor.replaces_value) replaced_.insert(tensor.name);
  if (tensor.params.type == ElementType::Float) {
    add_initializer(make_tensor(stored, ElementType::Float, bias.shape, bias.bytes));
    return add_bias_dequantizer(tensor, {stored});
  }
  add_initializer(
      make_tensor(stored, tensor.params.type, bias.shape, quantize_bias(bias, tensor.params)));
  const ParamNames params{names_.unique(stored + "_scale"), names_.unique(stored + "_zero_point")};
  const bool has_rank = plan_.convention == Convention::OnnxRuntime || tensor.params.axis;
  const auto count = static_cast<std::int64_t>(tensor.params.scales.size());
  add_initializer(stored_scale(params.scale, tensor.params,
                               has_rank ? std::vector{count} : std::vector<std::int64_t>{}));
  onnx::TensorProto zero_point = stored_zero_point(params.zero_point, tensor.params);
  tensor.params.axis ? add_initializer(std::move(zero_point)) : add_param(std::move(zero_point));
  add_bias_dequantizer(tensor, {stored, params.scale, params.zero_point});
}

void QdqLowering::add_bias_dequantizer(const TensorPlan& tensor, std::vector<std::string> inputs) {
  const std::string output = bias_output(tensor);
  const std::string name = tensor.name + "_DequantizeLinear";
  const auto add_cast = [&](const std::string& cast, const std::string& input) {
    onnx::NodeProto node;
    node.set_op_type("Cast");
    node.set_name(names_.unique(cast));
    node.add_input(input);
    node.add_output(output);
    set_int(node, "to", static_cast<std::int64_t>(tensor.value_type));
    new_nodes_.push_back({-1, std::move(node)});
  };
  if (tensor.params.type == ElementType::Float) {
    add_cast(name, inputs.front());
  } else if (tensor.params.scale_type != tensor.value_type) {
    const std::string dequantized = names_.unique(tensor.name + "_DequantizeLinear_Output");
    // The cast stands first, as onnxruntime.quantization has it; both orders sort alike.
    add_node(-1, "DequantizeLinear", name, std::move(inputs), dequantized, tensor.params);
    add_cast(tensor.name + "_Cast", dequantized);
  } else {
    add_node(-1, "DequantizeLinear", name, std::move(inputs), output, tensor.params);
  }
  if (!tensor.replaces_value) redirect(tensor.uses, output);
}

}  // namespace qtool
