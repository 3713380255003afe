#include "preprocess/graph_editor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "model/float_values.h"

namespace qtool {

GraphEditor::GraphEditor(Model& model, onnx::GraphProto& graph, NamesOnDemand& names,
                         const GraphEditor* outer, bool trusts_shapes)
    : model_(model),
      graph_(graph),
      names_(names),
      outer_(outer),
      trusts_shapes_(trusts_shapes),
      opset_(model.opset()),
      is_removed_(static_cast<std::size_t>(graph.node_size())) {
  values_.reserve(static_cast<std::size_t>(graph.node_size() + graph.initializer_size()) * 2);
  for (const auto& value : graph.value_info()) values_[value.name()].type = &value.type();
  for (const auto& output : graph.output()) {
    Value& value = values_[output.name()];
    ++value.outputs;
    value.type = &output.type();
  }
  for (int i = 0; i < graph.initializer_size(); ++i)
    values_[graph.initializer(i).name()].initializer = i;
  for (const auto& input : graph.input()) {
    Value& value = values_[input.name()];
    value.is_input = true;
    value.type = &input.type();
    value.initializer = -1;
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& node = graph.node(i);
    for (int slot = 0; slot < node.input_size(); ++slot) {
      if (!node.input(slot).empty()) values_[node.input(slot)].uses.push_back({i, slot});
    }
    for (const auto& output : node.output()) {
      if (!output.empty()) values_[output].producer = i;
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count_captures(attribute.g());
      for (const auto& each : attribute.graphs()) count_captures(each);
    }
  }
}

/// Names of values are unique across graphs that see each other, so that a name read inside is
/// either ours or none of ours.
void GraphEditor::count_captures(const onnx::GraphProto& graph) {
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) {
      for (const auto& input : node.input()) ++values_[input].captures;
    }
    for (const auto& output : each.output()) ++values_[output.name()].captures;
  });
}

const GraphEditor::Value* GraphEditor::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool GraphEditor::is(int index, std::string_view op_type) const {
  return index >= 0 && !is_removed(index) && node(index).op_type() == op_type &&
         is_default_domain(node(index).domain());
}

int GraphEditor::producer(const std::string& value) const {
  const Value* found = find(value);
  return found ? found->producer : -1;
}

int GraphEditor::producer(const std::string& value, std::string_view op_type) const {
  const int index = producer(value);
  return is(index, op_type) ? index : -1;
}

int GraphEditor::use_count(const std::string& value) const {
  const Value* found = find(value);
  return found ? static_cast<int>(found->uses.size()) + found->captures + found->outputs : 0;
}

std::optional<Use> GraphEditor::sole_use(const std::string& value) const {
  const Value* found = find(value);
  if (!found || found->uses.size() != 1 || use_count(value) != 1) return std::nullopt;
  return found->uses.front();
}

std::vector<Use> GraphEditor::uses(const std::string& value) const {
  const Value* found = find(value);
  return found ? found->uses : std::vector<Use>{};
}

bool GraphEditor::is_output(const std::string& value) const {
  const Value* found = find(value);
  return found && found->outputs > 0;
}

const onnx::TensorProto* GraphEditor::constant(const std::string& value) const {
  const Value* found = find(value);
  if (found && found->initializer >= 0) return &graph_.initializer(found->initializer);
  const bool is_ours = found && (found->is_input || found->producer >= 0);
  return outer_ && !is_ours ? outer_->constant(value) : nullptr;
}

std::optional<std::vector<double>> GraphEditor::floats(const std::string& value) const {
  const auto* tensor = constant(value);
  if (!tensor || !is_encodable(element_type(*tensor))) return std::nullopt;
  return to_float64(model_.tensor(*tensor));
}

std::optional<double> GraphEditor::scalar(const std::string& value) const {
  const auto* tensor = constant(value);
  if (!tensor || element_count(*tensor) != 1) return std::nullopt;
  const auto values = floats(value);
  return values ? std::optional(values->front()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> GraphEditor::integers(const std::string& value) const {
  const auto* tensor = constant(value);
  if (!tensor) return std::nullopt;
  const auto bytes = model_.tensor_bytes(*tensor);
  std::vector<std::int64_t> values(element_count(*tensor));
  if (element_type(*tensor) == ElementType::Int64) {
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  } else if (element_type(*tensor) == ElementType::Int32) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int32_t each = 0;
      std::memcpy(&each, bytes.data() + i * sizeof each, sizeof each);
      values[i] = each;
    }
  } else {
    return std::nullopt;
  }
  return values;
}

const onnx::TypeProto* GraphEditor::type_of(const std::string& value) const {
  const Value* found = find(value);
  if (found && found->type) return found->type;
  const bool is_ours = found && (found->is_input || found->producer >= 0);
  return outer_ && !is_ours ? outer_->type_of(value) : nullptr;
}

std::optional<GraphEditor::Shape> GraphEditor::shape(const std::string& value) const {
  if (const auto* tensor = constant(value))
    return Shape(tensor->dims().begin(), tensor->dims().end());
  const auto* type = trusts_shapes_ ? type_of(value) : nullptr;
  if (!type || !type->has_tensor_type() || !type->tensor_type().has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dim : type->tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return shape;
}

ElementType GraphEditor::type(const std::string& value) const {
  if (const auto* tensor = constant(value)) return element_type(*tensor);
  const auto* type = type_of(value);
  return type && type->has_tensor_type() ? static_cast<ElementType>(type->tensor_type().elem_type())
                                         : ElementType::Undefined;
}

/// Stands before every change.
void GraphEditor::begin_edit() {
  names_.get();
  ++edit_count_;
}

onnx::NodeProto& GraphEditor::edit(int index) {
  begin_edit();
  return *graph_.mutable_node(index);
}

void GraphEditor::become(int index, const std::string& op_type) {
  auto& node = edit(index);
  node.set_op_type(op_type);
  node.clear_domain();
  node.clear_attribute();
}

void GraphEditor::drop_use(const std::string& value, int index, int slot) {
  if (value.empty()) return;
  std::erase_if(values_[value].uses,
                [&](const Use& use) { return use.node == index && use.slot == slot; });
}

void GraphEditor::set_input(int index, int slot, const std::string& value) {
  auto& node = edit(index);
  while (node.input_size() <= slot) node.add_input("");
  drop_use(node.input(slot), index, slot);
  node.set_input(slot, value);
  if (!value.empty()) values_[value].uses.push_back({index, slot});
}

void GraphEditor::set_inputs(int index, const std::vector<std::string>& inputs) {
  auto& node = edit(index);
  for (int slot = 0; slot < node.input_size(); ++slot) drop_use(node.input(slot), index, slot);
  node.clear_input();
  for (int slot = 0; slot < static_cast<int>(inputs.size()); ++slot)
    set_input(index, slot, inputs[static_cast<std::size_t>(slot)]);
}

void GraphEditor::take_output(int index, int slot, const std::string& value) {
  auto& node = edit(index);
  Value& before = values_[node.output(slot)];
  if (before.producer == index) before.producer = -1;
  node.set_output(slot, value);
  values_[value].producer = index;
}

void GraphEditor::remove(int index) {
  const auto& node = edit(index);
  for (int slot = 0; slot < node.input_size(); ++slot) drop_use(node.input(slot), index, slot);
  for (const auto& output : node.output()) {
    if (!output.empty() && values_[output].producer == index) values_[output].producer = -1;
  }
  // What its subgraphs read stays counted until the next editor.
  is_removed_[static_cast<std::size_t>(index)] = true;
}

bool GraphEditor::replace(const std::string& from, const std::string& to) {
  if (from == to) return false;
  if (!is_output(from)) {
    move_readers(from, to);
    return true;
  }
  return takes_name(from, to);
}

/// Lets the maker of `to` make `from`, a graph output, under that name.
bool GraphEditor::takes_name(const std::string& from, const std::string& to) {
  const int maker = producer(to);
  if (maker < 0 || is_output(to)) return false;
  const auto& outputs = node(maker).output();
  const auto slot = static_cast<int>(std::ranges::find(outputs, to) - outputs.begin());
  const int former = producer(from);
  take_output(maker, slot, from);
  move_readers(to, from);
  if (former >= 0 && former != maker) {
    // The former maker makes what nobody reads.
    auto& node = edit(former);
    for (auto& output : *node.mutable_output()) {
      if (output == from) output = names_.get().unique(from);
    }
  }
  return true;
}

void GraphEditor::move_readers(const std::string& from, const std::string& to) {
  const auto uses = values_[from].uses;
  for (const Use& use : uses) set_input(use.node, use.slot, to);
  const int captures = std::exchange(values_[from].captures, 0);
  if (captures == 0) return;
  begin_edit();
  values_[to].captures += captures;
  for (auto& node : *graph_.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      const auto rename = [&](onnx::GraphProto& graph) {
        for (auto& each : *graph.mutable_node()) {
          for (auto& input : *each.mutable_input()) {
            if (input == from) input = to;
          }
        }
      };
      if (attribute.has_g()) for_each_graph(*attribute.mutable_g(), rename);
      for (auto& graph : *attribute.mutable_graphs()) for_each_graph(graph, rename);
    }
  }
}

int GraphEditor::add_node(int before, const std::string& op_type,
                          const std::vector<std::string>& inputs, const std::string& wanted) {
  begin_edit();
  const int index = graph_.node_size();
  auto& node = *graph_.add_node();
  is_removed_.push_back(false);
  node.set_op_type(op_type);
  node.add_output(names_.get().unique(wanted));
  node.set_name(node.output(0));
  values_[node.output(0)].producer = index;
  set_inputs(index, inputs);
  added_[before].push_back(index);
  return index;
}

std::string GraphEditor::add_constant(const std::string& wanted, onnx::TensorProto tensor) {
  begin_edit();
  const std::string name = names_.get().unique(wanted);
  tensor.set_name(name);
  values_[name].initializer = graph_.initializer_size();
  *graph_.add_initializer() = std::move(tensor);
  return name;
}

std::string GraphEditor::add_integers(const std::string& wanted,
                                      const std::vector<std::int64_t>& values) {
  return add_constant(wanted, make_tensor({}, ElementType::Int64,
                                          std::array{static_cast<std::int64_t>(values.size())},
                                          std::as_bytes(std::span(values))));
}

void GraphEditor::set_constant(int index, int slot, onnx::TensorProto tensor,
                               const std::string& role) {
  const auto& node = this->node(index);
  const std::string old = slot < node.input_size() ? node.input(slot) : std::string();
  const auto found = old.empty() ? values_.end() : values_.find(old);
  if (found != values_.end() && found->second.initializer >= 0 && use_count(old) == 1) {
    begin_edit();
    tensor.set_name(old);
    *graph_.mutable_initializer(found->second.initializer) = std::move(tensor);
    return;
  }
  const std::string base = node.name().empty() ? node.output(0) : node.name();
  set_input(index, slot, add_constant(base + "_" + role, std::move(tensor)));
}

void GraphEditor::place_added() {
  std::vector<int> order;
  std::size_t added = 0;
  for (const auto& [before, nodes] : added_) added += nodes.size();
  const int former = graph_.node_size() - static_cast<int>(added);
  for (int i = 0; i <= former; ++i) {
    if (const auto nodes = added_.find(i); nodes != added_.end())
      order.insert(order.end(), nodes->second.begin(), nodes->second.end());
    if (i < former) order.push_back(i);
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> placed;
  std::vector<bool> is_removed;
  for (const int i : order) {
    placed.Add()->Swap(graph_.mutable_node(i));
    is_removed.push_back(is_removed_[static_cast<std::size_t>(i)]);
  }
  graph_.mutable_node()->Swap(&placed);
  is_removed_ = std::move(is_removed);
}

void GraphEditor::finish() {
  if (!added_.empty()) place_added();
  int kept = 0;
  for (int i = 0; i < graph_.node_size(); ++i) {
    if (!is_removed(i)) graph_.mutable_node()->SwapElements(kept++, i);
  }
  graph_.mutable_node()->DeleteSubrange(kept, graph_.node_size() - kept);
}

namespace {

/// A look at the nodes alone costs a hundredth of the editors' index.
bool holds_any(const onnx::GraphProto& main, std::span<const std::string_view> op_types) {
  bool found = false;
  for_each_graph(main, [&](const onnx::GraphProto& graph) {
    found = found || std::ranges::any_of(graph.node(), [&](const onnx::NodeProto& node) {
              return is_default_domain(node.domain()) &&
                     std::ranges::find(op_types, node.op_type()) != op_types.end();
            });
  });
  return found;
}

bool edit_graph(Model& model, onnx::GraphProto& graph, NamesOnDemand& names,
                const GraphEditor* outer, bool trusts_shapes,
                const std::function<void(GraphEditor&)>& visit) {
  GraphEditor editor(model, graph, names, outer, trusts_shapes);
  visit(editor);
  editor.finish();
  bool changed = editor.edit_count() > 0;
  for (auto& node : *graph.mutable_node()) {
    const bool is_branch = node.op_type() == "If";
    const auto edit_inner = [&](onnx::GraphProto& inner) {
      changed |= edit_graph(model, inner, names, &editor, trusts_shapes && is_branch, visit);
    };
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) edit_inner(*attribute.mutable_g());
      for (auto& each : *attribute.mutable_graphs()) edit_inner(each);
    }
  }
  return changed;
}

}  // namespace

bool edit_graphs(Model& model, std::initializer_list<std::string_view> starts,
                 const std::function<void(GraphEditor&)>& visit) {
  if (!holds_any(model.graph(), starts)) return false;
  NamesOnDemand names(model.graph());
  return edit_graph(model, model.graph(), names, nullptr, true, visit);
}

}  // namespace qtool
