#include "model/graph_view.h"

#include <algorithm>

namespace qtool {
namespace {

/// Adds to `outer` every name that `graph` or a graph inside it reads but does not define.
void collect_captures(const onnx::GraphProto& graph, std::unordered_set<std::string_view>& outer) {
  std::unordered_set<std::string_view> defined;
  for (const auto& input : graph.input()) defined.insert(input.name());
  for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) defined.insert(tensor.values().name());
  for (const auto& node : graph.node()) defined.insert(node.output().begin(), node.output().end());

  std::unordered_set<std::string_view> read;
  for (const auto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_captures(attribute.g(), read);
      for (const auto& each : attribute.graphs()) collect_captures(each, read);
    }
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  for (const std::string_view name : read) {
    if (!name.empty() && !defined.contains(name)) outer.insert(name);
  }
}

}  // namespace

std::unordered_set<std::string_view> captures_of(const onnx::NodeProto& node) {
  std::unordered_set<std::string_view> out;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) collect_captures(attribute.g(), out);
    for (const auto& each : attribute.graphs()) collect_captures(each, out);
  }
  return out;
}

bool has_subgraphs(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.node(), [](const onnx::NodeProto& node) {
    return std::ranges::any_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
      return attribute.has_g() || attribute.graphs_size() > 0;
    });
  });
}

GraphView::GraphView(const onnx::GraphProto& graph, const GraphView* outer)
    : graph_(&graph), outer_(outer) {
  values_.reserve(static_cast<std::size_t>(graph.node_size() + graph.initializer_size()) * 2);
  for (const auto& value : graph.value_info()) values_[value.name()].type = &value.type();
  for (const auto& input : graph.input()) {
    Value& value = values_[input.name()];
    value.is_input = true;
    value.type = &input.type();
  }
  for (const auto& output : graph.output()) {
    Value& value = values_[output.name()];
    value.is_output = true;
    if (output.has_type()) value.type = &output.type();
  }
  for (const auto& tensor : graph.initializer()) values_[tensor.name()].initializer = &tensor;
  for (int index = 0; index < graph.node_size(); ++index) {
    const auto& node = graph.node(index);
    for (int slot = 0; slot < node.input_size(); ++slot) {
      if (!node.input(slot).empty()) values_[node.input(slot)].uses.push_back({index, slot});
    }
    for (const auto& output : node.output()) {
      if (!output.empty()) values_[output].producer = index;
    }
    for (const std::string_view name : captures_of(node)) values_[name].is_captured = true;
  }
}

const GraphView::Value* GraphView::find(std::string_view value) const {
  const auto it = values_.find(value);
  return it == values_.end() ? nullptr : &it->second;
}

bool GraphView::defines(std::string_view value) const {
  const Value* found = find(value);
  return found && (found->producer >= 0 || found->is_input || found->initializer != nullptr);
}

const GraphView* GraphView::owner_of(std::string_view value) const {
  if (defines(value)) return this;
  return outer_ ? outer_->owner_of(value) : nullptr;
}

/// What is known of a value where it is defined; of one that no graph defines, what is known here.
const GraphView::Value* GraphView::find_in_owner(std::string_view value) const {
  const GraphView* owner = outer_ ? owner_of(value) : nullptr;
  return owner ? owner->find(value) : find(value);
}

int GraphView::producer_of(std::string_view value) const {
  const Value* found = find(value);
  return found ? found->producer : -1;
}

std::span<const Use> GraphView::uses_of(std::string_view value) const {
  const Value* found = find(value);
  return found ? std::span<const Use>(found->uses) : std::span<const Use>();
}

bool GraphView::is_captured(std::string_view value) const {
  const Value* found = find(value);
  return found && found->is_captured;
}

bool GraphView::is_read(std::string_view value) const {
  const Value* found = find(value);
  return found && (!found->uses.empty() || found->is_captured || found->is_output);
}

bool GraphView::is_graph_input(std::string_view value) const {
  const Value* found = find_in_owner(value);
  return found && found->is_input;
}

bool GraphView::is_graph_output(std::string_view value) const {
  const Value* found = find(value);
  return found && found->is_output;
}

const onnx::TensorProto* GraphView::initializer(std::string_view value) const {
  const Value* found = find_in_owner(value);
  return found ? found->initializer : nullptr;
}

ElementType GraphView::type_of(std::string_view value) const {
  const Value* found = find_in_owner(value);
  if (!found) return ElementType::Undefined;
  if (found->initializer) return element_type(*found->initializer);
  if (found->type && found->type->has_tensor_type()) {
    return static_cast<ElementType>(found->type->tensor_type().elem_type());
  }
  return ElementType::Undefined;
}

std::optional<std::vector<std::int64_t>> GraphView::shape_of(std::string_view value) const {
  const Value* found = find_in_owner(value);
  if (!found) return std::nullopt;
  if (found->initializer)
    return std::vector<std::int64_t>(found->initializer->dims().begin(),
                                     found->initializer->dims().end());
  if (!found->type || !found->type->has_tensor_type() || !found->type->tensor_type().has_shape())
    return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const auto& dim : found->type->tensor_type().shape().dim()) {
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  }
  return shape;
}

NameAllocator::NameAllocator(const onnx::GraphProto& graph) {
  const auto reserve = [&](const std::string& name) { taken_.try_emplace(name, 0); };
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& value : each.input()) reserve(value.name());
    for (const auto& value : each.output()) reserve(value.name());
    for (const auto& value : each.value_info()) reserve(value.name());
    for (const auto& tensor : each.initializer()) reserve(tensor.name());
    for (const auto& tensor : each.sparse_initializer()) reserve(tensor.values().name());
    for (const auto& node : each.node()) {
      reserve(node.name());
      for (const auto& name : node.input()) reserve(name);
      for (const auto& name : node.output()) reserve(name);
    }
  });
}

std::string NameAllocator::unique(const std::string& wanted) {
  const auto [it, is_new] = taken_.try_emplace(wanted, 0);
  if (is_new) return wanted;
  std::string name;
  do {
    name = wanted + "_" + std::to_string(++it->second);
  } while (taken_.contains(name));
  taken_.try_emplace(name, 0);
  return name;
}

}  // namespace qtool
