#include "quantize/lower_qdq.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/attributes.h"
#include "model/erase_named.h"
#include "quantize/onnxruntime/node_order.h"
#include "quantize/qdq_lowering.h"

namespace qtool {

void QdqLowering::fold(const FoldedNode& folded) {
  // A chain of folded nodes ends at the node that computes.
  const int maker = maker_of(folded.input);
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

int QdqLowering::maker_of(const std::string& name) const {
  const auto moved = moved_producer_.find(name);
  return moved == moved_producer_.end() ? view_.producer_of(name) : moved->second;
}

void QdqLowering::lower_tensor(std::size_t index) {
  switch (plan_.tensors[index].role) {
    case TensorPlan::Role::Activation:
      return lower_activation(index);
    case TensorPlan::Role::Constant:
      return lower_constant(index);
    case TensorPlan::Role::Bias:
      return lower_bias(index);
  }
}

void QdqLowering::lower_body(const BodyPlan& body) {
  auto& holder = *nodes_[static_cast<std::size_t>(body.node)].mutable_attribute(body.attribute);
  QdqLowering(model_, *holder.mutable_g(), body.plan, names_, this).run();
}

/// Has node `maker` write `name` under another name, which is returned.
std::string QdqLowering::rename_output(int maker, const std::string& name) {
  const std::string renamed = names_.unique(name + "_QuantizeLinear_Input");
  for (auto& output : *nodes_[static_cast<std::size_t>(maker)].mutable_output()) {
    if (output == name) output = renamed;
  }
  return renamed;
}

/// A value that is seen from outside keeps its name for the dequantized one, so its maker writes
/// another.
std::string QdqLowering::input_of_pair(const TensorPlan& tensor, int maker, bool& keeps_name) {
  keeps_name = tensor.replaces_value && maker >= 0 &&
               (view_.is_graph_output(tensor.name) || view_.is_captured(tensor.name));
  return keeps_name ? rename_output(maker, tensor.name) : tensor.name;
}

void QdqLowering::lower_activation(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  const ParamNames params = params_of(index);
  if (tensor.source >= 0) return add_rescaled(tensor, params);
  const int maker = maker_of(tensor.name);
  if (tensor.conversion) return add_conversion(index, params, maker);
  if (tensor.has_pair_per_reader) return add_pair_per_reader(tensor, params, maker);
  bool keeps_name = false;
  const std::string input = input_of_pair(tensor, maker, keeps_name);
  const std::string quantized = names_.unique(tensor.name + "_QuantizeLinear_Output");
  const std::string output =
      keeps_name ? tensor.name : names_.unique(tensor.name + "_DequantizeLinear_Output");
  quantized_names_[index] = quantized;
  if (is_source_[index] && tensor.uses.empty() && !keeps_name) {
    return add_node(maker, "QuantizeLinear", tensor.name + "_QuantizeLinear",
                    {input, params.scale, params.zero_point}, quantized, tensor.params);
  }
  add_pair(maker, {tensor.name, input, quantized, output}, params, tensor.params);
  if (tensor.equal_scales > 0) repeat_scale(new_nodes_[new_nodes_.size() - 2].node, tensor);
  if (!keeps_name) redirect(tensor.uses, output);
}

void QdqLowering::repeat_scale(onnx::NodeProto& quantizer, const TensorPlan& tensor) {
  const auto count = static_cast<std::size_t>(tensor.equal_scales);
  QuantParams params = tensor.params;
  params.axis = 1;
  params.scales.assign(count, tensor.params.scales.front());
  params.zero_points.assign(count, tensor.params.zero_points.front());
  const ParamNames names =
      add_params(params, {tensor.name + "_equal_scales", tensor.name + "_equal_zero_points"});
  quantizer.set_input(1, names.scale);
  quantizer.set_input(2, names.zero_point);
  set_int(quantizer, "axis", 1);
}

/// The node that made the value is gone: it is another reading of its source's integers.
void QdqLowering::add_rescaled(const TensorPlan& tensor, const ParamNames& params) {
  const auto source = static_cast<std::size_t>(tensor.source);
  add_node(maker_of(plan_.tensors[source].name), "DequantizeLinear",
           tensor.name + "_DequantizeLinear",
           {quantized_names_[source], params.scale, params.zero_point}, tensor.name, tensor.params);
}

void QdqLowering::add_pair_per_reader(const TensorPlan& tensor, const ParamNames& params,
                                      int maker) {
  int last = -1;
  int number = 0;
  std::string output;
  for (const Use& use : tensor.uses) {
    if (use.node != last) {
      const std::string suffix = "_" + std::to_string(++number);
      output = names_.unique(tensor.name + "_DequantizeLinear_Output" + suffix);
      const std::string quantized = names_.unique(tensor.name + "_QuantizeLinear_Output" + suffix);
      add_pair(maker, {tensor.name, tensor.name, quantized, output, suffix}, params, tensor.params);
      last = use.node;
    }
    redirect({use}, output);
  }
}

/// Q and DQ of the one type, and behind them those of the other: behind a DQ of their own where
/// readers of both types are left.
void QdqLowering::add_conversion(std::size_t index, const ParamNames& params, int maker) {
  const TensorPlan& tensor = plan_.tensors[index];
  const Conversion& conversion = *tensor.conversion;
  const ParamNames converted = conversion_params_of(index);
  const bool converts_all = conversion.replaces_value;
  bool keeps_name = false;
  const std::string input = input_of_pair(tensor, maker, keeps_name);
  const std::string quantized = names_.unique(tensor.name + "_QuantizeLinear_Output");
  const std::string first = keeps_name && !converts_all
                                ? tensor.name
                                : names_.unique(tensor.name + "_DequantizeLinear_Output");
  add_pair(maker, {tensor.name, input, quantized, first}, params, tensor.params);
  redirect(tensor.uses, first);
  const std::string stem = tensor.name + "_convert";
  std::string between = first;
  if (!converts_all) {
    between = names_.unique(stem + "_QuantizeLinear_Input");
    add_node(maker, "DequantizeLinear", stem + "_clone_DequantizeLinear",
             {quantized, params.scale, params.zero_point}, between, tensor.params);
  }
  const std::string second =
      keeps_name && converts_all ? tensor.name : names_.unique(stem + "_DequantizeLinear_Output");
  add_pair(maker, {stem, between, names_.unique(stem + "_QuantizeLinear_Output"), second},
           converted, conversion.params);
  redirect(conversion.uses, second);
}

/// Names of the scale and the zero point of a plan, stored on first use.
const ParamNames& QdqLowering::params_of(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  if (tensor.provider >= 0) {
    const auto provider = static_cast<std::size_t>(tensor.provider);
    return tensor.shares_conversion ? conversion_params_of(provider) : params_of(provider);
  }
  ParamNames& names = param_names_[index];
  if (names.scale.empty())
    names = add_params(tensor.params, {tensor.name + "_scale", tensor.name + "_zero_point"});
  return names;
}

const ParamNames& QdqLowering::conversion_params_of(std::size_t index) {
  const TensorPlan& tensor = plan_.tensors[index];
  ParamNames& names = conversion_names_[index];
  if (names.scale.empty()) {
    names = add_params(tensor.conversion->params,
                       {tensor.name + "_scale_convert", tensor.name + "_zero_point_convert"});
  }
  return names;
}

ParamNames QdqLowering::add_params(const QuantParams& params, ParamNames names) {
  names = {names_.unique(names.scale), names_.unique(names.zero_point)};
  add_param(stored_zero_point(names.zero_point, params));
  add_param(stored_scale(names.scale, params, stored_shape(params)));
  return names;
}

void QdqLowering::redirect(const std::vector<Use>& uses, const std::string& to) {
  for (const Use& use : uses) {
    onnx::NodeProto& node = nodes_[static_cast<std::size_t>(use.node)];
    while (node.input_size() <= use.slot) node.add_input("");
    node.set_input(use.slot, to);
  }
}

void QdqLowering::add_node(int maker, const char* op_type, std::string name,
                           std::vector<std::string> inputs, const std::string& output,
                           const QuantParams& params) {
  onnx::NodeProto node;
  node.set_name(names_.unique(name));
  node.set_op_type(op_type);
  node.set_domain(plan_.qdq_domain);
  for (std::string& input : inputs) node.add_input(std::move(input));
  node.add_output(output);
  if (params.axis) set_int(node, "axis", *params.axis);
  if (params.block_size > 0) set_int(node, "block_size", params.block_size);
  new_nodes_.push_back({maker, std::move(node)});
}

void QdqLowering::add_pair(int maker, const PairNames& names, const ParamNames& params,
                           const QuantParams& values) {
  add_node(maker, "QuantizeLinear", names.node + "_QuantizeLinear" + names.suffix,
           {names.input, params.scale, params.zero_point}, names.quantized, values);
  add_node(maker, "DequantizeLinear", names.node + "_DequantizeLinear" + names.suffix,
           {names.quantized, params.scale, params.zero_point}, names.output, values);
}

/// Initializers that nothing reads go: those that quantization took the readers of, and with
/// ONNX Runtime's convention all others too. Where one was an input's default, so does the input.
void QdqLowering::drop_unused_initializers() {
  const bool drops_all = plan_.convention == Convention::OnnxRuntime &&
                         std::ranges::none_of(plan_.tensors, &TensorPlan::keeps_float);
  auto& graph = target_;
  std::unordered_set<std::string> gone = std::move(replaced_);
  const GraphView view(graph);
  for (const auto& tensor : graph.initializer()) {
    const std::string& name = tensor.name();
    if (!view.is_read(name) && (drops_all || touched_.contains(name))) gone.insert(name);
  }
  erase_named(*graph.mutable_initializer(), gone);
  erase_named(*graph.mutable_input(), gone);
}

void QdqLowering::drop_stale_value_info() {
  std::unordered_set<std::string> gone;
  for (const FoldedNode& folded : plan_.folded) gone.insert(folded.input);
  erase_named(*target_.mutable_value_info(), gone);
}

void QdqLowering::place_nodes() {
  auto& graph = target_;
  graph.clear_node();
  const auto add_behind = [&](std::vector<onnx::NodeProto>& nodes) {
    for (auto& node : nodes) *graph.add_node() = std::move(node);
  };
  // By the node that makes their input, the graph's own inputs first.
  std::vector<std::vector<onnx::NodeProto>> behind(nodes_.size() + 1);
  const bool is_sorted_later = plan_.convention == Convention::OnnxRuntime;
  for (NewNode& made : new_nodes_) {
    const std::size_t place =
        is_sorted_later ? nodes_.size() : static_cast<std::size_t>(made.maker + 1);
    behind[place].push_back(std::move(made.node));
  }
  if (!is_sorted_later) add_behind(behind[0]);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!is_removed_[i]) *graph.add_node() = std::move(nodes_[i]);
    add_behind(behind[i + 1]);
  }
}

void QdqLowering::assemble() {
  place_nodes();
  for (auto& tensor : added_) *target_.add_initializer() = std::move(tensor);
  drop_unused_initializers();
  drop_stale_value_info();
  if (!plan_.qdq_domain.empty() && model_.opset(plan_.qdq_domain) == 0)
    model_.set_opset(plan_.qdq_domain, 1);
  if (plan_.convention == Convention::OnnxRuntime) sort_as_onnxruntime(target_);
}

Model lower_to_qdq(Model model, const QuantPlan& plan) {
  NameAllocator names(model.graph());
  QdqLowering(model, model.graph(), plan, names).run();
  return model;
}

}  // namespace qtool
