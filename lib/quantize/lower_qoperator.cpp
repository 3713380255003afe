#include "quantize/lower_qoperator.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/attributes.h"
#include "model/erase_named.h"
#include "model/graph_view.h"
#include "quantize/bias.h"
#include "quantize/constants.h"
#include "quantize/integer_forms.h"
#include "quantize/onnxruntime/node_order.h"
#include "quantize/stored_params.h"

namespace qtool {
namespace {

using Kind = NodeForm::Kind;
using Part = Operand::Part;
using Role = TensorPlan::Role;

constexpr const char* kMicrosoft = "com.microsoft";

/// One walk over the nodes, in which integers and floats are made when a node first reads them.
class QOperatorLowering {
 public:
  QOperatorLowering(Model& model, const QuantPlan& plan)
      : model_(model),
        plan_(plan),
        view_(model.graph()),
        names_(model.graph()),
        opset_(model.opset()),
        nodes_(model.graph().node().begin(), model.graph().node().end()),
        tensors_(plan.tensors.size()) {}

  void run() {
    for (const FoldedNode& folded : plan_.folded) fold(folded);
    for (const NodeForm& form : plan_.forms) name_outputs(form);
    for (std::size_t i = 0; i < tensors_.size(); ++i) store(static_cast<int>(i));
    note_given_floats();
    auto form = plan_.forms.begin();
    for (int i = 0; i < view_.node_count(); ++i) {
      const bool has_form = form != plan_.forms.end() && form->node == i;
      if (has_form) {
        lower(*form++);
      } else if (!is_folded_.contains(i)) {
        keep(nodes_[static_cast<std::size_t>(i)]);
      }
    }
    for (const auto& output : model_.graph().output()) floats_of(output.name());
    assemble();
  }

 private:
  /// The names of a plan's tensor once it is stored or made.
  struct Names {
    std::string integers, scale, zero_point;
    std::string float_scale;  ///< where `scale` is float16: the same for integer operators
    bool is_made = false;     ///< the integers are there
  };

  const TensorPlan& plan(int index) const { return plan_.tensors[static_cast<std::size_t>(index)]; }
  static int input_of(const NodeForm& form, int slot) {
    const auto at = static_cast<std::size_t>(slot);
    return at < form.inputs.size() ? form.inputs[at] : -1;
  }
  Names& names(int index) { return tensors_[static_cast<std::size_t>(index)]; }
  int root(int index) const { return plan(index).provider >= 0 ? plan(index).provider : index; }

  void fold(const FoldedNode& folded);
  void name_outputs(const NodeForm& form);
  void note_given_floats();

  void store(int index);
  Tensor bias_of(const TensorPlan& tensor, const std::string& source) const;
  void store_params(int index);
  const std::string& float_scale(int index);

  const std::string& integers_of(int index);
  void floats_of(const std::string& name);
  std::string zero_point_of(int index) { return names(root(index)).zero_point; }

  void keep(onnx::NodeProto node);
  void lower(const NodeForm& form);
  void add_operand(const Operand& operand, const NodeForm& form, const onnx::NodeProto& original,
                   onnx::NodeProto& node);
  void add_triple(int index, onnx::NodeProto& node);
  void lower_itself(const IntegerForm& row, const NodeForm& form, onnx::NodeProto node);
  void lower_other(const IntegerForm& row, const NodeForm& form, const onnx::NodeProto& original);
  static void set_pad_value(onnx::NodeProto& node, const std::string& zero_point);
  static onnx::NodeProto with_inputs(onnx::NodeProto node, const onnx::NodeProto& from);
  void name_as_quantized(const NodeForm& form, onnx::NodeProto& node);
  void note_outputs(const NodeForm& form, onnx::NodeProto& node);
  void add_conversion(const char* op_type, const std::string& stem, int index,
                      const std::string& input, const std::string& output);

  void assemble();
  void drop_unused_initializers();
  void drop_stale_value_info(const std::unordered_set<std::string>& had);

  Model& model_;
  const QuantPlan& plan_;
  GraphView view_;
  NameAllocator names_;
  std::int64_t opset_;
  std::vector<onnx::NodeProto> nodes_;
  std::vector<Names> tensors_;
  std::unordered_set<int> is_folded_;
  std::unordered_set<std::string> floats_;         ///< values that exist in float by now
  std::unordered_map<std::string, int> integers_;  ///< value -> the plan whose integers it is
  std::vector<onnx::NodeProto> out_;
  std::vector<onnx::TensorProto> added_;
  bool uses_microsoft_ = false;
};

void QOperatorLowering::fold(const FoldedNode& folded) {
  is_folded_.insert(folded.node);
  for (onnx::NodeProto& node : nodes_) {
    for (auto& output : *node.mutable_output()) {
      if (output == folded.input) output = folded.output;
    }
  }
}

void QOperatorLowering::name_outputs(const NodeForm& form) {
  const auto& node = nodes_[static_cast<std::size_t>(form.node)];
  const IntegerForm* row = find_integer_form(node.op_type(), node.domain());
  for (const int output : form.outputs) {
    if (row == nullptr || output < 0) continue;
    names(output).integers = names_.unique(plan(output).name + std::string(row->output_suffix));
  }
}

/// Graph inputs and constants are there from the start; constants that only exist in integers are
/// not.
void QOperatorLowering::note_given_floats() {
  std::unordered_set<std::string_view> replaced;
  for (const TensorPlan& tensor : plan_.tensors) {
    if (tensor.role != Role::Activation && tensor.replaces_value) replaced.insert(tensor.name);
  }
  for (const auto& input : model_.graph().input()) {
    if (!replaced.contains(input.name())) floats_.insert(input.name());
  }
  for (const auto& tensor : model_.graph().initializer()) {
    if (!replaced.contains(tensor.name())) floats_.insert(tensor.name());
  }
}

/// Stores what the plan of a tensor gives without any node: constants, scales and zero points.
void QOperatorLowering::store(int index) {
  const TensorPlan& tensor = plan(index);
  Names& own = names(index);
  if (own.integers.empty()) own.integers = names_.unique(tensor.name + "_quantized");
  if (tensor.role == Role::Activation) {
    if (tensor.provider < 0) store_params(index);
    return;
  }
  const std::string& source = tensor.initializer.empty() ? tensor.name : tensor.initializer;
  if (tensor.role == Role::Bias) {
    added_.push_back(make_tensor(own.integers, tensor.params.type, tensor.shape,
                                 quantize_bias(bias_of(tensor, source), tensor.params)));
  } else {
    if (tensor.provider < 0) store_params(index);
    const Tensor values = model_.tensor(*view_.initializer(source));
    added_.push_back(make_tensor(own.integers, tensor.params.type, values.shape,
                                 quantize_constant(values, tensor.params)));
  }
  own.is_made = true;
  if (tensor.replaces_value) integers_[tensor.name] = index;
}

Tensor QOperatorLowering::bias_of(const TensorPlan& tensor, const std::string& source) const {
  if (!tensor.values.empty()) return float_tensor(tensor.shape, tensor.values);
  const Tensor values = model_.tensor(*view_.initializer(source));
  return *stored_bias(values, tensor.params.scales.size(), tensor.factor);
}

/// Scale and zero point of a plan that has its own.
void QOperatorLowering::store_params(int index) {
  const TensorPlan& tensor = plan(index);
  Names& own = names(index);
  if (!own.scale.empty()) return;
  const std::string& stem = tensor.role == Role::Bias ? own.integers : tensor.name;
  own.scale = names_.unique(stem + "_scale");
  own.zero_point = names_.unique(stem + "_zero_point");
  auto scale = stored_scale(own.scale, tensor.params, stored_shape(tensor.params));
  auto zero_point = stored_zero_point(own.zero_point, tensor.params);
  const bool has_typed_fields =
      plan_.convention == Convention::OnnxRuntime && tensor.role != Role::Bias;
  for (auto* stored : {&scale, &zero_point})
    if (has_typed_fields) use_typed_field(*stored);
  // In the order of onnxruntime.quantization.
  if (tensor.role == Role::Activation) std::swap(scale, zero_point);
  added_.push_back(std::move(scale));
  added_.push_back(std::move(zero_point));
}

/// The scale that integer operators are told: they want float32 also where the tensor is float16.
const std::string& QOperatorLowering::float_scale(int index) {
  Names& own = names(root(index));
  QuantParams params = plan(root(index)).params;
  if (params.scale_type == ElementType::Float || params.type == ElementType::Float8E4M3FN)
    return own.scale;
  if (own.float_scale.empty()) {
    params.scale_type = ElementType::Float;
    own.float_scale = names_.unique(own.scale + "_float32");
    added_.push_back(stored_scale(own.float_scale, params, stored_shape(params)));
  }
  return own.float_scale;
}

/// The name of a plan's integers, which a QuantizeLinear makes where nothing else did.
const std::string& QOperatorLowering::integers_of(int index) {
  Names& own = names(index);
  if (own.is_made) return own.integers;
  const std::string& name = plan(index).name;
  floats_of(name);
  add_conversion("QuantizeLinear", name, index, name, own.integers);
  own.is_made = true;
  integers_.try_emplace(name, index);
  return own.integers;
}

/// Sees to it that a value exists in float.
void QOperatorLowering::floats_of(const std::string& name) {
  if (name.empty() || floats_.contains(name)) return;
  const auto found = integers_.find(name);
  if (found == integers_.end()) return;
  floats_.insert(name);
  if (plan(found->second).role == Role::Bias) store_params(found->second);
  add_conversion("DequantizeLinear", name, found->second, names(found->second).integers, name);
}

void QOperatorLowering::add_conversion(const char* op_type, const std::string& stem, int index,
                                       const std::string& input, const std::string& output) {
  const Names& params = names(root(index));
  onnx::NodeProto node;
  node.set_name(names_.unique(stem + "_" + op_type));
  node.set_op_type(op_type);
  node.set_domain(plan_.qdq_domain);
  for (const auto& name : {input, params.scale, params.zero_point}) node.add_input(name);
  node.add_output(output);
  if (const auto axis = plan(index).params.axis) set_int(node, "axis", *axis);
  out_.push_back(std::move(node));
}

/// A node that works on floats.
void QOperatorLowering::keep(onnx::NodeProto node) {
  for (const auto& name : node.input()) floats_of(name);
  for (const std::string_view name : captures_of(node)) floats_of(std::string(name));
  floats_.insert(node.output().begin(), node.output().end());
  out_.push_back(std::move(node));
}

void QOperatorLowering::lower(const NodeForm& form) {
  const onnx::NodeProto& original = nodes_[static_cast<std::size_t>(form.node)];
  if (form.kind == Kind::Gone) {
    integers_of(form.inputs.front());
    integers_[original.output(0)] = form.inputs.front();
    return;
  }
  const IntegerForm& row = *find_integer_form(original.op_type(), original.domain());
  const bool is_itself = row.integer_op.empty() || row.integer_op == row.op_type;
  is_itself ? lower_itself(row, form, original) : lower_other(row, form, original);
}

/// The operator itself reads and writes integers.
void QOperatorLowering::lower_itself(const IntegerForm& row, const NodeForm& form,
                                     onnx::NodeProto node) {
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const int index = input_of(form, slot);
    if (index < 0) {
      floats_of(node.input(slot));
    } else {
      node.set_input(slot, integers_of(index));
    }
  }
  if (row.operands.back().part == Part::PadValue && input_of(form, 2) < 0)
    set_pad_value(node, zero_point_of(form.inputs.front()));
  if (!row.integer_op.empty()) {
    node = with_inputs(integer_node(row, node, opset_), node);
    name_as_quantized(form, node);
  }
  note_outputs(form, node);
  out_.push_back(std::move(node));
}

/// Zero is the zero point of the integers, and no longer the default.
void QOperatorLowering::set_pad_value(onnx::NodeProto& node, const std::string& zero_point) {
  const bool needs_value = string_attribute(node, "mode", "constant") == "constant";
  while (needs_value && node.input_size() < 3) node.add_input("");
  if (node.input_size() > 2) node.set_input(2, needs_value ? zero_point : "");
}

onnx::NodeProto QOperatorLowering::with_inputs(onnx::NodeProto node, const onnx::NodeProto& from) {
  *node.mutable_input() = from.input();
  *node.mutable_output() = from.output();
  return node;
}

void QOperatorLowering::name_as_quantized(const NodeForm& form, onnx::NodeProto& node) {
  const std::string& name = nodes_[static_cast<std::size_t>(form.node)].name();
  if (!name.empty()) node.set_name(names_.unique(name + "_quant"));
}

/// The operator becomes another one, which is told scales and zero points.
void QOperatorLowering::lower_other(const IntegerForm& row, const NodeForm& form,
                                    const onnx::NodeProto& original) {
  onnx::NodeProto node = integer_node(row, original, opset_);
  name_as_quantized(form, node);
  for (const Operand& operand : row.operands) add_operand(operand, form, original, node);
  while (node.input_size() > 0 && node.input(node.input_size() - 1).empty())
    node.mutable_input()->RemoveLast();
  *node.mutable_output() = original.output();
  const int weight = input_of(form, 1);
  const bool is_float8 = weight >= 0 && plan(weight).params.type == ElementType::Float8E4M3FN;
  if (is_float8) node.set_domain(kMicrosoft);
  uses_microsoft_ = uses_microsoft_ || node.domain() == kMicrosoft;
  note_outputs(form, node);
  out_.push_back(std::move(node));
}

void QOperatorLowering::add_operand(const Operand& operand, const NodeForm& form,
                                    const onnx::NodeProto& original, onnx::NodeProto& node) {
  const int index = input_of(form, operand.slot);
  switch (operand.part) {
    case Part::AsIs: {
      const bool is_given = operand.slot < original.input_size();
      const std::string name = is_given ? original.input(operand.slot) : "";
      floats_of(name);
      node.add_input(name);
      break;
    }
    case Part::Activation:
    case Part::Weight:
      add_triple(index, node);
      break;
    case Part::Integers:
    case Part::Bias:
    case Part::PadValue:
      node.add_input(index < 0 ? "" : integers_of(index));
      break;
    case Part::Scale:
      node.add_input(index < 0 ? "" : float_scale(index));
      break;
    case Part::ZeroPoint:
      node.add_input(index < 0 ? "" : zero_point_of(index));
      break;
    case Part::All:
      for (const int input : form.inputs) add_triple(input, node);
      break;
    case Part::Output:
      node.add_input(float_scale(form.outputs.front()));
      node.add_input(zero_point_of(form.outputs.front()));
      break;
  }
}

void QOperatorLowering::add_triple(int index, onnx::NodeProto& node) {
  node.add_input(index < 0 ? "" : integers_of(index));
  node.add_input(index < 0 ? "" : float_scale(index));
  node.add_input(index < 0 ? "" : zero_point_of(index));
}

/// Has the node write integers where the form says so.
void QOperatorLowering::note_outputs(const NodeForm& form, onnx::NodeProto& node) {
  for (int i = 0; i < node.output_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int index = at < form.outputs.size() ? form.outputs[at] : -1;
    if (index < 0) {
      floats_.insert(node.output(i));
      continue;
    }
    integers_[plan(index).name] = index;
    names(index).is_made = true;
    node.set_output(i, names(index).integers);
  }
}

void QOperatorLowering::assemble() {
  auto& graph = model_.graph();
  std::unordered_set<std::string> had;
  for (const auto& node : graph.node()) had.insert(node.output().begin(), node.output().end());
  graph.clear_node();
  for (auto& node : out_) *graph.add_node() = std::move(node);
  for (auto& tensor : added_) *graph.add_initializer() = std::move(tensor);
  drop_unused_initializers();
  drop_stale_value_info(had);
  if (plan_.convention == Convention::OnnxRuntime) sort_as_onnxruntime(graph);
  if (uses_microsoft_ && model_.opset(kMicrosoft) == 0) model_.set_opset(kMicrosoft, 1);
}

/// What nobody reads goes, and what a DequantizeLinear gives now under the same name; with
/// constants that were quantized go the inputs that they were the defaults of.
void QOperatorLowering::drop_unused_initializers() {
  const GraphView view(model_.graph());
  std::unordered_set<std::string> quantized;
  for (const TensorPlan& tensor : plan_.tensors) {
    if (tensor.role != Role::Activation) quantized.insert(tensor.name);
  }
  const auto is_unused = [&](const std::string& name) {
    if (view.producer_of(name) >= 0) return true;
    return !view.is_read(name) && (quantized.contains(name) || !view.is_graph_input(name));
  };
  auto& graph = model_.graph();
  std::unordered_set<std::string> gone;
  for (const auto& tensor : graph.initializer()) {
    if (is_unused(tensor.name())) gone.insert(tensor.name());
  }
  erase_named(*graph.mutable_initializer(), gone);
  erase_named(*graph.mutable_input(), gone);
}

/// Values that exist no longer in float have no type either.
void QOperatorLowering::drop_stale_value_info(const std::unordered_set<std::string>& had) {
  const GraphView view(model_.graph());
  auto& infos = *model_.graph().mutable_value_info();
  const auto is_stale = [&](const onnx::ValueInfoProto& info) {
    return had.contains(info.name()) && view.producer_of(info.name()) < 0;
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_stale), infos.end());
}

}  // namespace

Model lower_to_qoperator(Model model, const QuantPlan& plan) {
  QOperatorLowering(model, plan).run();
  return model;
}

}  // namespace qtool
