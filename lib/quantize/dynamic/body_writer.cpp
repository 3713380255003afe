#include "quantize/dynamic/body_writer.h"

#include <utility>

#include "model/attributes.h"
#include "model/made_values.h"
#include "quantize/stored_params.h"

namespace qtool {
namespace {

onnx::NodeProto make_node(const std::string& op_type, const std::string& name,
                          const std::vector<std::string>& inputs, const std::string& output) {
  onnx::NodeProto node;
  node.set_op_type(op_type);
  if (!name.empty()) node.set_name(name);
  for (const auto& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

QuantParams scaled(const StoredWeight& weight) {
  QuantParams out = weight.params;
  for (float& scale : out.scales) scale *= weight.factor;
  return out;
}

onnx::TensorProto zero_point_tensor(const std::string& name, const StoredWeight& weight) {
  QuantParams params = weight.params;
  if (weight.has_one_zero_point) {
    params.axis.reset();
    params.zero_points.resize(1);
  }
  onnx::TensorProto out = stored_zero_point(name, params);
  if (weight.has_one_zero_point) return out;
  out.clear_dims();
  for (const std::int64_t dim : weight.params_shape) out.add_dims(dim);
  return out;
}

}  // namespace

BodyWriter::BodyWriter(Model& model, DynamicPlan& plan)
    : model_(model),
      plan_(plan),
      names_(model.graph()),
      weights_(plan.weights.size()),
      is_stored_(plan.weights.size()) {}

void BodyWriter::enter(onnx::GraphProto& graph) {
  scopes_.emplace_back();
  scopes_.back().graph = &graph;
  scopes_.back().number = static_cast<int>(graphs_.size());
  graphs_.push_back(&graph);
  define(scopes_.back());
}

/// Graph inputs and initializers are there in float from the start, but for those that only exist
/// in integers.
void BodyWriter::define(Scope& scope) {
  for (const auto& input : scope.graph->input()) scope.floats.insert(input.name());
  for (const auto& tensor : scope.graph->initializer()) scope.floats.insert(tensor.name());
  scope.defined = scope.floats;
  for (const auto& node : scope.graph->node())
    scope.defined.insert(node.output().begin(), node.output().end());
  for (const StoredWeight& weight : plan_.weights) {
    if (weight.graph == scope.number && weight.replaces_value) scope.floats.erase(weight.source);
  }
}

void BodyWriter::leave() {
  Scope& scope = scopes_.back();
  scope.graph->clear_node();
  for (auto& node : scope.nodes) *scope.graph->add_node() = std::move(node);
  for (auto& tensor : scope.added) *scope.graph->add_initializer() = std::move(tensor);
  scopes_.pop_back();
}

BodyWriter::Scope& BodyWriter::owner_of(const std::string& value) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (scope->defined.contains(value)) return *scope;
  return scopes_.back();
}

BodyWriter::Scope& BodyWriter::scope_of_graph(int number) {
  for (Scope& scope : scopes_)
    if (scope.number == number) return scope;
  return scopes_.back();
}

onnx::NodeProto& BodyWriter::add(onnx::NodeProto node) {
  Scope& scope = scopes_.back();
  for (const auto& output : node.output()) scope.defined.insert(output);
  scope.nodes.push_back(std::move(node));
  return scope.nodes.back();
}

onnx::NodeProto& BodyWriter::add(const std::string& op_type, const std::string& name,
                                 const std::vector<std::string>& inputs,
                                 const std::string& output) {
  return add_to(scopes_.back(), op_type, name, inputs, output);
}

onnx::NodeProto& BodyWriter::add_to(Scope& scope, const std::string& op_type,
                                    const std::string& name, const std::vector<std::string>& inputs,
                                    const std::string& output) {
  scope.nodes.push_back(make_node(op_type, name, inputs, output));
  scope.defined.insert(output);
  return scope.nodes.back();
}

void BodyWriter::store(onnx::TensorProto tensor) {
  scopes_.back().added.push_back(std::move(tensor));
}

IntegerNames BodyWriter::weight(int index) {
  store_params(index);
  store_values(index);
  return weights_[static_cast<std::size_t>(index)];
}

void BodyWriter::store_params(int index) {
  StoredWeight& weight = plan_.weights[static_cast<std::size_t>(index)];
  IntegerNames& names = weights_[static_cast<std::size_t>(index)];
  if (!names.scale.empty()) return;
  names.values = names_.unique(weight.stem + "_quantized");
  names.scale = names_.unique(weight.stem + "_scale");
  names.zero_point = names_.unique(weight.stem + "_zero_point");
  names.axis = weight.params.axis;
  // Where the peer has channels, it counts their axis from the end.
  if (names.axis && follows_onnxruntime()) names.axis = -1;
  names.scale_type = weight.params.scale_type;
  names.value_type = weight.value_type;
  auto scale = stored_scale(names.scale, scaled(weight), weight.params_shape);
  auto zero_point = zero_point_tensor(names.zero_point, weight);
  for (auto* stored : {&scale, &zero_point})
    if (follows_onnxruntime()) use_typed_field(*stored);
  Scope& scope = scope_of_graph(weight.graph);
  for (const auto& name : {names.values, names.scale, names.zero_point}) scope.defined.insert(name);
  scope.added.push_back(std::move(scale));
  scope.added.push_back(std::move(zero_point));
}

void BodyWriter::store_values(int index) {
  StoredWeight& weight = plan_.weights[static_cast<std::size_t>(index)];
  if (is_stored_[static_cast<std::size_t>(index)]) return;
  is_stored_[static_cast<std::size_t>(index)] = true;
  const IntegerNames& names = weights_[static_cast<std::size_t>(index)];
  Scope& scope = scope_of_graph(weight.graph);
  onnx::TensorProto tensor = make_tensor(names.values, weight.params.type, weight.shape, {});
  if (weight.values) {
    tensor.set_raw_data(weight.values->data(), weight.values->size());
    weight.values.reset();
  } else {
    set_made(tensor, {static_cast<std::size_t>(index), element_count(tensor)});
  }
  scope.added.push_back(std::move(tensor));
  if (weight.replaces_value) scope.integers[weight.source] = names;
}

IntegerNames BodyWriter::quantized(const std::string& value, ElementType type) {
  Scope& scope = owner_of(value);
  if (const auto found = scope.integers.find(value); found != scope.integers.end())
    return found->second;
  const std::string source = float32_in(scope, value, type);
  IntegerNames names{.values = names_.unique(value + "_quantized"),
                     .scale = names_.unique(value + "_scale"),
                     .zero_point = names_.unique(value + "_zero_point"),
                     .value_type = type};
  auto& node = add_to(scope, "DynamicQuantizeLinear", names_.unique(value + "_QuantizeLinear"),
                      {source}, names.values);
  for (const auto& name : {names.scale, names.zero_point}) {
    node.add_output(name);
    scope.defined.insert(name);
  }
  scope.integers[value] = names;
  return names;
}

void BodyWriter::set_integers(const std::string& value, IntegerNames names) {
  scopes_.back().integers[value] = std::move(names);
}

void BodyWriter::floats_of(const std::string& value) {
  if (value.empty()) return;
  Scope& scope = owner_of(value);
  if (scope.floats.contains(value)) return;
  const auto found = scope.integers.find(value);
  if (found == scope.integers.end()) return;
  scope.floats.insert(value);
  dequantize_in(scope, found->second, names_.unique(value + "_DequantizeLinear"), value);
}

void BodyWriter::dequantize(const IntegerNames& from, const std::string& name,
                            const std::string& output) {
  dequantize_in(scopes_.back(), from, name, output);
}

void BodyWriter::dequantize_in(Scope& scope, const IntegerNames& from, const std::string& name,
                               const std::string& output) {
  const bool is_cast = from.value_type != from.scale_type;
  const std::string result = is_cast ? names_.unique(output + "_float32") : output;
  auto& node =
      add_to(scope, "DequantizeLinear", name, {from.values, from.scale, from.zero_point}, result);
  if (from.axis) set_int(node, "axis", *from.axis);
  if (is_cast) {
    auto& cast = add_to(scope, "Cast", names_.unique(output + "_cast"), {result}, output);
    set_int(cast, "to", static_cast<std::int64_t>(from.value_type));
  }
}

std::string BodyWriter::as_float32(const std::string& value, ElementType type) {
  return float32_in(owner_of(value), value, type);
}

std::string BodyWriter::float32_in(Scope& scope, const std::string& value, ElementType type) {
  if (type == ElementType::Float) return value;
  const auto [entry, is_new] = scope.casts.try_emplace(value);
  if (is_new) {
    entry->second = names_.unique(value + "_float32");
    auto& cast =
        add_to(scope, "Cast", names_.unique(value + "_to_float32"), {value}, entry->second);
    set_int(cast, "to", static_cast<std::int64_t>(ElementType::Float));
  }
  return entry->second;
}

}  // namespace qtool
