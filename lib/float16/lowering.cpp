#include "float16/lowering.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "float16/model_index.h"
#include "model/attributes.h"
#include "model/graph_view.h"
#include "model/ir_version.h"
#include "model/narrowed_tensor.h"

namespace qtool {
namespace {

/// The names that a value goes by in the new model; one of them where it has but one type.
struct ValueNames {
  std::string as_float, as_short;
};

onnx::AttributeProto& attribute_of(onnx::NodeProto& node, const std::string& name) {
  for (auto& attribute : *node.mutable_attribute())
    if (attribute.name() == name) return attribute;
  auto& added = *node.add_attribute();
  added.set_name(name);
  return added;
}

void set_element_type(onnx::ValueInfoProto& value, ElementType type) {
  if (value.type().has_tensor_type())
    value.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<std::int32_t>(type));
}

class Lowering {
 public:
  Lowering(Model model, const Float16Plan& plan)
      : source_(model.clone()),
        model_(std::move(model)),
        plan_(plan),
        index_(source_),
        names_(source_.graph()) {}

  Model run() {
    find_dropped_casts();
    name_values();
    lower(model_.graph());
    import_casts();
    return std::move(model_);
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  ElementType target() const { return plan_.narrowing.type; }
  const PlannedValue& planned(int value) const { return plan_.values[at(value)]; }
  bool is_float(int value) const { return value >= 0 && planned(value).home != Form::Untouched; }

  void find_dropped_casts();
  void name_values();
  ValueNames names_for(int value);
  Form form_of_name(int value) const;
  const std::string& name_of(int value, Form form) const;
  std::string resolved(int value) const;

  void lower(onnx::GraphProto& graph);
  void import_casts();
  void lower_inputs(onnx::GraphProto& graph, int number);
  void lower_constants(onnx::GraphProto& graph, int number);
  void lower_nodes(onnx::GraphProto& graph);
  void lower_node(onnx::NodeProto& node, int number);
  void lower_outputs(onnx::GraphProto& graph, int number);
  void lower_value_info(onnx::GraphProto& graph, int number);
  void set_types(onnx::NodeProto& node, int number);
  void convert_constant_node(onnx::NodeProto& node);
  void fill_with_target(onnx::NodeProto& node);
  void add_other_constant(const onnx::NodeProto& before, int value);
  void add_casts(int value);

  const Model source_;  ///< as it was, for the index
  Model model_;
  const Float16Plan& plan_;
  ModelIndex index_;
  NameAllocator names_;
  std::vector<ValueNames> value_names_;
  std::vector<bool> is_dropped_;  ///< per node: a Cast without an effect
  std::vector<onnx::NodeProto> added_;
  int next_graph_ = 0, next_node_ = 0;
};

/// Casts from the target type whose float32 nobody wants, and casts to it of what has it already.
void Lowering::find_dropped_casts() {
  is_dropped_.resize(index_.nodes().size());
  for (std::size_t i = 0; i < is_dropped_.size(); ++i) {
    const IndexedNode& node = index_.nodes()[i];
    if (!node.is("Cast")) continue;
    const int from = node.inputs[0], to = node.outputs[0];
    if (is_float(to) && planned(to).is_widened_short) {
      is_dropped_[i] = !planned(to).wants_float && planned(to).wants_short;
    } else if (is_float(from) && planned(from).home == Form::Short) {
      const IndexedValue& made = index_.value(to);
      is_dropped_[i] = made.type == target() && !made.is_output;
    }
  }
}

/// The name of a value that was no float32: its own, or that of what a dropped Cast copied.
std::string Lowering::resolved(int value) const {
  const int producer = index_.value(value).producer;
  if (producer < 0 || !is_dropped_[at(producer)]) return index_.value(value).name;
  const int source = index_.node(producer).inputs[0];
  return is_float(source) ? value_names_[at(source)].as_short : resolved(source);
}

/// The type that must keep the value's name: an output of the model is known by it.
Form Lowering::form_of_name(int value) const {
  const IndexedGraph& graph = index_.graphs().front();
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    if (graph.outputs[i] == value) return plan_.graph_outputs.front()[i];
  return planned(value).home;
}

ValueNames Lowering::names_for(int value) {
  const PlannedValue& entry = planned(value);
  const std::string& name = index_.value(value).name;
  const std::string suffix = "_" + element_type_name(target());
  ValueNames out{.as_float = name, .as_short = name};
  if (entry.is_widened_short) {
    out.as_short = resolved(index_.node(index_.value(value).producer).inputs[0]);
    return out;
  }
  const bool has_float = entry.home == Form::Float || entry.wants_float;
  const bool has_short = entry.home == Form::Short || entry.wants_short;
  if (!has_float || !has_short) return out;
  if (form_of_name(value) == Form::Short)
    out.as_float = names_.unique(name + "_float32");
  else
    out.as_short = names_.unique(name + suffix);
  return out;
}

void Lowering::name_values() {
  value_names_.resize(plan_.values.size());
  for (std::size_t i = 0; i < plan_.values.size(); ++i)
    if (is_float(static_cast<int>(i))) value_names_[i] = names_for(static_cast<int>(i));
}

const std::string& Lowering::name_of(int value, Form form) const {
  const Form wanted = form == Form::Either ? planned(value).home : form;
  const ValueNames& names = value_names_[at(value)];
  return wanted == Form::Short ? names.as_short : names.as_float;
}

/// A Cast to the type that a value is wanted in beside its own.
void Lowering::add_casts(int value) {
  if (!is_float(value) || planned(value).is_constant || planned(value).is_widened_short) return;
  const PlannedValue& entry = planned(value);
  const bool is_short = entry.home == Form::Short;
  if (!(is_short ? entry.wants_float : entry.wants_short)) return;
  const ValueNames& names = value_names_[at(value)];
  onnx::NodeProto& cast = added_.emplace_back();
  cast.set_op_type("Cast");
  cast.add_input(is_short ? names.as_short : names.as_float);
  cast.add_output(is_short ? names.as_float : names.as_short);
  cast.set_name(names_.unique(entry.name + "_to_" +
                              element_type_name(is_short ? ElementType::Float : target())));
  set_int(cast, "to", static_cast<std::int64_t>(is_short ? ElementType::Float : target()));
}

void Lowering::lower_inputs(onnx::GraphProto& graph, int number) {
  const auto& inputs = index_.graphs()[at(number)].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_float(inputs[i])) continue;
    if (planned(inputs[i]).home == Form::Short)
      set_element_type(*graph.mutable_input(static_cast<int>(i)), target());
    add_casts(inputs[i]);
  }
}

void Lowering::lower_constants(onnx::GraphProto& graph, int number) {
  std::unordered_map<std::string_view, int> constants;
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const IndexedValue& value = index_.values()[i];
    if (value.graph == number && value.is_initializer && is_float(static_cast<int>(i)))
      constants.emplace(value.name, static_cast<int>(i));
  }
  auto& list = *graph.mutable_initializer();
  const int count = list.size();
  for (int i = 0; i < count; ++i) {
    const auto found = constants.find(list.Get(i).name());
    if (found == constants.end()) continue;
    const PlannedValue& entry = planned(found->second);
    const bool is_both = entry.is_constant && entry.wants_float && entry.wants_short;
    if (!is_both && entry.home != Form::Short) continue;
    if (is_both) {
      *list.Add() = list.Get(i);
      list.Mutable(i)->set_name(name_of(found->second, Form::Float));
    }
    onnx::TensorProto& tensor = *list.Mutable(is_both ? list.size() - 1 : i);
    set_narrowed(tensor, plan_.narrowing);
    tensor.set_name(name_of(found->second, Form::Short));
  }
}

/// Gives a Constant node the target type, in whatever form it says its numbers.
void Lowering::convert_constant_node(onnx::NodeProto& node) {
  auto& attribute = *node.mutable_attribute(0);
  if (attribute.has_t()) return set_narrowed(*attribute.mutable_t(), plan_.narrowing);
  const bool is_list = attribute.name() == "value_floats";
  std::vector<float> values(attribute.floats().begin(), attribute.floats().end());
  if (!is_list) values.assign(1, attribute.f());
  std::vector<std::int64_t> shape;
  if (is_list) shape.push_back(static_cast<std::int64_t>(values.size()));
  onnx::AttributeProto tensor;
  tensor.set_name("value");
  tensor.set_type(onnx::AttributeProto::TENSOR);
  *tensor.mutable_t() = make_float_tensor("", ElementType::Float, shape, values);
  set_narrowed(*tensor.mutable_t(), plan_.narrowing);
  attribute = std::move(tensor);
}

/// ConstantOfShape fills with a float32 zero where it does not say what.
void Lowering::fill_with_target(onnx::NodeProto& node) {
  auto& attribute = attribute_of(node, "value");
  if (!attribute.has_t()) {
    attribute.set_type(onnx::AttributeProto::TENSOR);
    const std::vector<std::int64_t> shape{1};
    const std::vector<float> zero{0};
    *attribute.mutable_t() = make_float_tensor("", ElementType::Float, shape, zero);
  }
  set_narrowed(*attribute.mutable_t(), plan_.narrowing);
}

/// What an attribute says of the type of an output.
void Lowering::set_types(onnx::NodeProto& node, int number) {
  const IndexedNode& entry = index_.node(number);
  const auto& forms = plan_.nodes[at(number)].outputs;
  if (forms.empty() || forms[0] != Form::Short) return;
  const auto short_type = static_cast<std::int64_t>(target());
  if (entry.is("Cast")) set_int(node, "to", short_type);
  if (entry.is("Constant")) convert_constant_node(node);
  if (entry.is("ConstantOfShape")) fill_with_target(node);
  if (entry.is("DequantizeLinear") && int_attribute(node, "output_dtype", 0) != 0)
    set_int(node, "output_dtype", short_type);
}

/// A Constant node that is wanted in both types is there twice.
void Lowering::add_other_constant(const onnx::NodeProto& before, int value) {
  if (!is_float(value) || !planned(value).is_constant || !planned(value).wants_float ||
      !planned(value).wants_short)
    return;
  onnx::NodeProto other = before;
  convert_constant_node(other);
  other.set_output(0, name_of(value, Form::Short));
  other.set_name(names_.unique(name_of(value, Form::Short)));
  added_.push_back(std::move(other));
}

void Lowering::lower_node(onnx::NodeProto& node, int number) {
  const IndexedNode& entry = index_.node(number);
  const PlannedNode& forms = plan_.nodes[at(number)];
  for (std::size_t i = 0; i < entry.inputs.size(); ++i) {
    const int value = entry.inputs[i];
    if (value < 0) continue;
    node.set_input(static_cast<int>(i), is_float(value) && forms.inputs[i] != Form::Untouched
                                            ? name_of(value, forms.inputs[i])
                                            : resolved(value));
  }
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) lower(*attribute.mutable_g());
    for (auto& body : *attribute.mutable_graphs()) lower(body);
  }
  for (std::size_t i = 0; i < entry.outputs.size(); ++i)
    if (is_float(entry.outputs[i]))
      node.set_output(static_cast<int>(i),
                      name_of(entry.outputs[i], planned(entry.outputs[i]).home));
}

void Lowering::lower_nodes(onnx::GraphProto& graph) {
  std::vector<onnx::NodeProto> nodes = std::exchange(added_, {});
  const auto take_added = [&] {
    for (auto& node : added_) nodes.push_back(std::move(node));
    added_.clear();
  };
  for (auto& node : *graph.mutable_node()) {
    const int own = next_node_++;
    lower_node(node, own);
    set_types(node, own);
    if (is_dropped_[at(own)]) continue;
    nodes.push_back(std::move(node));
    for (const int value : index_.node(own).outputs) {
      add_casts(value);
      if (index_.node(own).is("Constant")) add_other_constant(*index_.node(own).proto, value);
    }
    take_added();
  }
  graph.clear_node();
  for (auto& node : nodes) *graph.add_node() = std::move(node);
}

void Lowering::lower_outputs(onnx::GraphProto& graph, int number) {
  const auto& outputs = index_.graphs()[at(number)].outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] < 0) continue;
    auto& output = *graph.mutable_output(static_cast<int>(i));
    const Form form = plan_.graph_outputs[at(number)][i];
    if (!is_float(outputs[i]) || form == Form::Untouched) {
      output.set_name(resolved(outputs[i]));
      continue;
    }
    output.set_name(name_of(outputs[i], form));
    if (form == Form::Short) set_element_type(output, target());
  }
}

/// Entries of values that have another name or type now, or are gone.
void Lowering::lower_value_info(onnx::GraphProto& graph, int number) {
  std::unordered_map<std::string_view, int> values;
  for (std::size_t i = 0; i < plan_.values.size(); ++i)
    if (index_.values()[i].graph == number)
      values.emplace(index_.values()[i].name, static_cast<int>(i));
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  for (auto& info : *graph.mutable_value_info()) {
    const auto found = values.find(info.name());
    if (found != values.end()) {
      const int producer = index_.value(found->second).producer;
      if (producer >= 0 && is_dropped_[at(producer)]) continue;
      if (is_float(found->second)) {
        const Form home = planned(found->second).home;
        info.set_name(name_of(found->second, home));
        if (home == Form::Short) set_element_type(info, target());
      }
    }
    *kept.Add() = std::move(info);
  }
  graph.mutable_value_info()->Swap(&kept);
}

void Lowering::lower(onnx::GraphProto& graph) {
  const int number = next_graph_++;
  std::vector<onnx::NodeProto> around = std::exchange(added_, {});
  lower_inputs(graph, number);
  lower_constants(graph, number);
  lower_nodes(graph);
  lower_outputs(graph, number);
  lower_value_info(graph, number);
  added_ = std::move(around);
}

/// A model of other operators alone has no opset that Cast would be of.
void Lowering::import_casts() {
  constexpr std::int64_t kOpset = 13;
  if (plan_.casts_added == 0 || model_.opset() != 0) return;
  model_.set_opset("", kOpset);
  auto& proto = model_.proto();
  proto.set_ir_version(std::max(proto.ir_version(), ir_version_of(kOpset)));
}

}  // namespace

Model lower_float16(Model model, const Float16Plan& plan) {
  return Lowering(std::move(model), plan).run();
}

}  // namespace qtool
