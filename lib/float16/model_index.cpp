#include "float16/model_index.h"

#include <utility>

namespace qtool {
namespace {

ElementType element_of(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return static_cast<ElementType>(type.tensor_type().elem_type());
    case onnx::TypeProto::kSequenceType:
      return element_of(type.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType:
      return element_of(type.optional_type().elem_type());
    default:
      return ElementType::Undefined;
  }
}

IndexedValue::Kind kind_of(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::VALUE_NOT_SET:
      return IndexedValue::Kind::Unknown;
    case onnx::TypeProto::kTensorType:
      return IndexedValue::Kind::Tensor;
    default:
      return IndexedValue::Kind::Container;
  }
}

void set_type_of(IndexedValue& value, const onnx::TypeProto& type) {
  if (value.kind != IndexedValue::Kind::Unknown) return;
  if (type.has_tensor_type() && element_of(type) == ElementType::Undefined) return;
  value.kind = kind_of(type);
  value.type = element_of(type);
}

/// What a Constant node says in a form that has a tensor for it; null for single numbers.
const onnx::TensorProto* tensor_of_constant(const onnx::NodeProto& node) {
  const auto* value = find_attribute(node, "value");
  return value != nullptr ? &value->t() : nullptr;
}

ElementType type_of_constant(const onnx::NodeProto& node) {
  if (const auto* tensor = tensor_of_constant(node)) return element_type(*tensor);
  const bool is_float =
      find_attribute(node, "value_float") != nullptr || find_attribute(node, "value_floats");
  return is_float ? ElementType::Float : ElementType::Undefined;
}

}  // namespace

ModelIndex::ModelIndex(const Model& model) : model_(&model) { add_graph(model.graph(), -1); }

int ModelIndex::add_value(const std::string& name, int graph) {
  const int number = static_cast<int>(values_.size());
  IndexedValue& value = values_.emplace_back();
  value.name = name;
  value.graph = graph;
  scopes_.back()[name] = number;
  return number;
}

int ModelIndex::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return found->second;
  return -1;
}

void ModelIndex::declare(const onnx::ValueInfoProto& info) {
  if (const auto found = scopes_.back().find(info.name()); found != scopes_.back().end())
    set_type_of(values_[static_cast<std::size_t>(found->second)], info.type());
}

int ModelIndex::add_graph(const onnx::GraphProto& graph, int holder) {
  const int number = static_cast<int>(graphs_.size());
  graphs_.push_back({&graph, holder, {}, {}});
  scopes_.emplace_back();
  for (const auto& input : graph.input()) {
    const int value = add_value(input.name(), number);
    values_.back().is_input = true;
    set_type_of(values_.back(), input.type());
    graphs_[static_cast<std::size_t>(number)].inputs.push_back(value);
  }
  const auto add_constant = [&](const onnx::TensorProto& tensor) {
    const auto known = scopes_.back().find(tensor.name());
    const int value =
        known != scopes_.back().end() ? known->second : add_value(tensor.name(), number);
    IndexedValue& entry = values_[static_cast<std::size_t>(value)];
    entry.is_initializer = entry.is_constant = true;
    entry.constant = &tensor;
    entry.kind = IndexedValue::Kind::Tensor;
    entry.type = element_type(tensor);
  };
  for (const auto& tensor : graph.initializer()) add_constant(tensor);
  // No operator of ONNX reads a sparse tensor as one of numbers.
  for (const auto& sparse : graph.sparse_initializer()) add_value(sparse.values().name(), number);
  // Types are known before nodes in bodies ask for them.
  std::unordered_map<std::string_view, const onnx::TypeProto*> types;
  for (const auto& info : graph.value_info()) types.emplace(info.name(), &info.type());
  for (const auto& info : graph.output()) types.emplace(info.name(), &info.type());
  for (const auto& node : graph.node()) {
    const int added = add_node(node, number);
    for (const int output : nodes_[static_cast<std::size_t>(added)].outputs) {
      if (output < 0) continue;
      IndexedValue& value = values_[static_cast<std::size_t>(output)];
      if (const auto type = types.find(value.name); type != types.end())
        set_type_of(value, *type->second);
    }
  }
  for (const auto& output : graph.output()) {
    const int value = find(output.name());
    graphs_[static_cast<std::size_t>(number)].outputs.push_back(value);
    if (value < 0) continue;
    values_[static_cast<std::size_t>(value)].is_output = true;
    set_type_of(values_[static_cast<std::size_t>(value)], output.type());
  }
  scopes_.pop_back();
  return number;
}

int ModelIndex::add_node(const onnx::NodeProto& node, int graph) {
  const int number = static_cast<int>(nodes_.size());
  nodes_.push_back({&node, graph, {}, {}, {}});
  std::vector<int> inputs, outputs, bodies;
  for (const auto& name : node.input()) {
    const int value = name.empty() ? -1 : find(name);
    if (value >= 0) {
      values_[static_cast<std::size_t>(value)].uses.push_back(
          {number, static_cast<int>(inputs.size())});
    }
    inputs.push_back(value);
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) bodies.push_back(add_graph(attribute.g(), number));
    for (const auto& body : attribute.graphs()) bodies.push_back(add_graph(body, number));
  }
  for (const auto& name : node.output()) {
    outputs.push_back(name.empty() ? -1 : add_value(name, graph));
    if (name.empty()) continue;
    IndexedValue& value = values_.back();
    value.producer = number;
    if (!is_default_domain(node.domain()) || node.op_type() != "Constant") continue;
    value.is_constant = true;
    value.constant = tensor_of_constant(node);
    value.type = type_of_constant(node);
    if (value.type != ElementType::Undefined) value.kind = IndexedValue::Kind::Tensor;
  }
  IndexedNode& entry = nodes_[static_cast<std::size_t>(number)];
  entry.inputs = std::move(inputs);
  entry.outputs = std::move(outputs);
  entry.bodies = std::move(bodies);
  return number;
}

void ModelIndex::set_type(int value, ElementType type) {
  IndexedValue& entry = values_[static_cast<std::size_t>(value)];
  entry.kind = IndexedValue::Kind::Tensor;
  entry.type = type;
}

}  // namespace qtool
