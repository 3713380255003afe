#include "quantize/onnxruntime/qoperator_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_set>
#include <utility>

#include "quantize/clamps.h"
#include "quantize/integer_forms.h"
#include "quantize/node_filter.h"
#include "quantize/onnxruntime/qoperator_bias.h"
#include "quantize/onnxruntime/qoperator_tensors.h"
#include "quantize/op_rules.h"
#include "quantize/params.h"
#include "quantize/size_nodes.h"

namespace qtool {
namespace {

using Kind = NodeForm::Kind;
using Part = Operand::Part;
using Role = TensorPlan::Role;

/// Whether each node passes the filters of the config, and why not.
struct Selection {
  std::vector<bool> takes_part;
  std::vector<std::string> reasons;
};

Selection select(const onnx::GraphProto& graph, const QuantizationConfig& config) {
  const NodeFilter filter(graph, config, placement_for(Preset::OnnxRuntime));
  Selection out;
  for (const auto& node : graph.node()) {
    std::string reason;
    out.takes_part.push_back(filter.rule_for(node, reason) != nullptr);
    out.reasons.push_back(std::move(reason));
  }
  const std::vector<bool> computes_size = size_nodes(GraphView(graph));
  for (std::size_t i = 0; i < computes_size.size(); ++i) {
    if (!computes_size[i] || !out.takes_part[i]) continue;
    out.takes_part[i] = false;
    out.reasons[i] = "computes sizes, which rounding would change";
  }
  return out;
}

/// The walk over the nodes in order: a node takes its integer form, or reads what it needs in
/// float.
class QOperatorWalk {
 public:
  QOperatorWalk(const Model& model, const TensorRanges* ranges, const QuantizationConfig& config)
      : model_(model),
        config_(config),
        graph_(model.graph()),
        opset_(model.opset()),
        nodes_(select(model.graph(), config)),
        ranges_(graph_, ranges, config,
                [this](int index) { return nodes_.takes_part[static_cast<std::size_t>(index)]; }),
        tensors_(model, graph_, config, ranges_),
        biases_(model, graph_, config, ranges == nullptr) {}

  QuantPlan run() {
    for (int i = 0; i < graph_.node_count(); ++i) {
      const std::string reason = quantize(i);
      if (!reason.empty()) keep(i, reason);
    }
    for (const auto& output : graph_.graph().output()) read_in_float(output.name());
    biases_.settle(tensors_);
    plan_.convention = Convention::OnnxRuntime;
    plan_.tensors = std::move(tensors_.all());
    warn_of_defaults();
    return std::move(plan_);
  }

  const std::vector<std::string>& measured() const { return tensors_.measured(); }

 private:
  std::string quantize(int index);
  std::string clamp(int index);
  void keep(int index, const std::string& reason);
  void read_in_float(const std::string& name);
  void warn_of_defaults();

  bool joins(const IntegerForm& row, const onnx::NodeProto& node);
  std::string fill(const IntegerForm& row, const onnx::NodeProto& node, NodeForm& form);
  std::string fill_inputs(const IntegerForm& row, const onnx::NodeProto& node, NodeForm& form);
  std::string fill_outputs(const IntegerForm& row, const onnx::NodeProto& node, NodeForm& form);
  int own_output(const IntegerForm& row, const onnx::NodeProto& node, const NodeForm& form);
  int weight(const onnx::NodeProto& node, int slot);
  int pad_value(const onnx::NodeProto& node, const NodeForm& form, std::string& obstacle);
  bool represents(int plan, const std::string& value);

  const Model& model_;
  const QuantizationConfig& config_;
  GraphView graph_;
  std::int64_t opset_;
  Selection nodes_;
  RangeSources ranges_;
  QOperatorTensors tensors_;
  QOperatorBiases biases_;
  QuantPlan plan_;
};

/// Why the node stays in float, or nothing: then it has a form.
std::string QOperatorWalk::quantize(int index) {
  const auto& node = graph_.node(index);
  if (!nodes_.takes_part[static_cast<std::size_t>(index)])
    return nodes_.reasons[static_cast<std::size_t>(index)];
  if (node.input_size() == 0) return "has no input";
  if (node.op_type() == "Relu" || node.op_type() == "Clip") return clamp(index);
  const IntegerForm* row = find_integer_form(node.op_type(), node.domain());
  if (row == nullptr) return "the operator has no integer form";
  if (opset_ < row->since_opset)
    return fmt::format("needs opset {}, the model has {}", row->since_opset, opset_);
  const bool multiplies = node.op_type() == "MatMul" || node.op_type() == "Gemm";
  if (multiplies && config_.extra_options.mat_mul_const_b_only &&
      !graph_.initializer(node.input(1)))
    return "its second input is not constant";
  const auto before = tensors_.mark();
  NodeForm form{.node = index, .kind = Kind::Integer, .inputs = {}, .outputs = {}};
  std::string obstacle = fill(*row, node, form);
  if (obstacle.empty()) obstacle = form_obstacle(*row, node, form, tensors_.all());
  if (!obstacle.empty()) {
    tensors_.take_back(before);
    biases_.take_back(before);
    return obstacle;
  }
  for (const int output : form.outputs) {
    if (output >= 0) tensors_.note(tensors_.at(output).name, output);
  }
  plan_.forms.push_back(std::move(form));
  plan_.quantized_nodes.push_back(index);
  return "";
}

/// Relu and Clip go where the integers that they read are clamped alike already.
std::string QOperatorWalk::clamp(int index) {
  const auto& node = graph_.node(index);
  const std::string& input = node.input(0);
  tensors_.measure(input);
  tensors_.measure(node.output(0));
  const int read = tensors_.integers_of(input);
  if (read < 0) return "its input is not quantized";
  if (config_.extra_options.activation_symmetric.value_or(false))
    return "symmetric integers do not clamp";
  const QuantParams& params = tensors_.at(read).params;
  const bool clamps =
      !params.axis && tensors_.at(read).role != Role::Bias &&
      (ranges_.is_draft() || quantizer_clamps({node, graph_, model_, opset_}, params));
  if (!clamps) return "the integers that it reads are not clamped alike";
  plan_.forms.push_back({index, Kind::Gone, {read}, {}});
  tensors_.alias(node.output(0), read);
  return "";
}

void QOperatorWalk::keep(int index, const std::string& reason) {
  const auto& node = graph_.node(index);
  for (const auto& name : node.input()) read_in_float(name);
  for (const std::string_view name : captures_of(node)) read_in_float(std::string(name));
  plan_.skipped.push_back({index, node.name(), node.op_type(), "", reason});
}

/// A constant that exists in integers by now is dequantized for all its float readers.
void QOperatorWalk::read_in_float(const std::string& name) {
  const int plan = tensors_.integers_of(name);
  if (plan < 0) return;
  TensorPlan& tensor = tensors_.at(plan);
  if (tensor.role == Role::Activation || tensor.name != name) return;
  // DequantizeLinear has no axis before opset 13; the float constant is as good.
  if (!tensor.params.axis || opset_ >= 13) tensor.replaces_value = true;
}

void QOperatorWalk::warn_of_defaults() {
  for (const TensorPlan& tensor : plan_.tensors) {
    if (tensor.role != Role::Activation && graph_.is_graph_input(tensor.name))
      plan_.warnings.push_back(fmt::format(
          "input '{}' has a default, which is quantized: callers can no longer replace it",
          tensor.name));
  }
}

bool QOperatorWalk::joins(const IntegerForm& row, const onnx::NodeProto& node) {
  const bool is_forced = config_.extra_options.force_quantize_no_input_check;
  const std::string& input = node.input(0);
  switch (row.joining) {
    case Joining::Always:
      return true;
    case Joining::ConstantInput:
      return tensors_.is_constant(input) && tensors_.is_float(input);
    case Joining::WhenForced:
      return is_forced;
    case Joining::QuantizedInput: {
      const bool only_moves = row.operands.size() == 1 && row.output == OutputForm::AsInput;
      return tensors_.integers_of(input) >= 0 ||
             (is_forced && only_moves && tensors_.activation(input) >= 0);
    }
  }
  return false;
}

std::string QOperatorWalk::fill(const IntegerForm& row, const onnx::NodeProto& node,
                                NodeForm& form) {
  for (const auto& name : node.output()) tensors_.measure(name);
  if (!joins(row, node)) {
    return row.joining == Joining::ConstantInput ? "its input is not constant"
           : row.joining == Joining::WhenForced  ? "takes part with ForceQuantizeNoInputCheck"
                                                 : "its input is not quantized";
  }
  form.outputs.assign(static_cast<std::size_t>(node.output_size()), -1);
  if (!row.has_late_output) form.outputs[0] = own_output(row, node, form);
  if (std::string obstacle = fill_inputs(row, node, form); !obstacle.empty()) return obstacle;
  if (row.has_late_output) form.outputs[0] = own_output(row, node, form);
  return fill_outputs(row, node, form);
}

/// The output's plan where it does not depend on the input's, or -1.
int QOperatorWalk::own_output(const IntegerForm& row, const onnx::NodeProto& node,
                              const NodeForm& form) {
  const std::string& name = node.output(0);
  const bool is_nnapi = node.op_type() == "Sigmoid" && config_.extra_options.sigmoid_nnapi;
  if (is_nnapi) return tensors_.output_with(name, 1.0F / 256, 0);
  switch (row.output) {
    case OutputForm::Own:
    case OutputForm::OwnOrInput:
      return tensors_.output(name);
    case OutputForm::UnitSteps: {
      const bool is_unsigned = config_.activation_type == QuantType::UInt8;
      return tensors_.output_with(name, 1.0F / 256, is_unsigned ? 0 : -128);
    }
    default:
      return form.outputs[0];
  }
}

std::string QOperatorWalk::fill_outputs(const IntegerForm& row, const onnx::NodeProto& node,
                                        NodeForm& form) {
  if (row.output == OutputForm::Float) return "";
  const bool may_take_input = row.output != OutputForm::Own && row.output != OutputForm::UnitSteps;
  for (int i = 0; i < node.output_size() && may_take_input; ++i) {
    int& output = form.outputs[static_cast<std::size_t>(i)];
    const std::string& name = node.output(i);
    if (output < 0 && !name.empty() && (i == 0 || tensors_.is_float(name)))
      output = tensors_.output_like(name, form.inputs.front());
  }
  return form.outputs.front() >= 0 ? "" : fmt::format("'{}' has no range", node.output(0));
}

std::string QOperatorWalk::fill_inputs(const IntegerForm& row, const onnx::NodeProto& node,
                                       NodeForm& form) {
  form.inputs.assign(static_cast<std::size_t>(node.input_size()), -1);
  std::string obstacle;
  const auto fill_slot = [&](Part part, int slot) {
    if (!obstacle.empty() || slot >= node.input_size() || node.input(slot).empty()) return;
    int& input = form.inputs[static_cast<std::size_t>(slot)];
    if (part == Part::Bias) {
      input = biases_.plan(node, slot, form.inputs[0], form.inputs[1], tensors_, obstacle);
    } else if (part == Part::PadValue) {
      input = pad_value(node, form, obstacle);
    } else {
      input = part == Part::Weight ? weight(node, slot) : tensors_.activation(node.input(slot));
      if (input < 0) obstacle = fmt::format("'{}' cannot be quantized", node.input(slot));
    }
  };
  for (const Operand& operand : row.operands) {
    switch (operand.part) {
      case Part::All:
        for (int slot = 0; slot < node.input_size(); ++slot) fill_slot(Part::Activation, slot);
        break;
      case Part::Integers:
        // Operators that only want the integers go on with those of their input, whatever it is.
        if (row.joining == Joining::QuantizedInput && operand.slot == 0 &&
            tensors_.integers_of(node.input(0)) >= 0) {
          form.inputs[0] = tensors_.integers_of(node.input(0));
          break;
        }
        [[fallthrough]];
      case Part::Activation:
      case Part::Weight:
      case Part::Bias:
      case Part::PadValue:
        fill_slot(operand.part, operand.slot);
        break;
      default:
        break;
    }
  }
  return obstacle;
}

int QOperatorWalk::weight(const onnx::NodeProto& node, int slot) {
  const std::string& name = node.input(slot);
  const onnx::TensorProto* values = graph_.initializer(name);
  if (values == nullptr) return tensors_.activation(name);
  ConstantWish wish{.is_weight = true};
  OpRule rule = *find_rule(placement_for(Preset::OnnxRuntime), node.op_type(), node.domain());
  if (rule.refine) rule = rule.refine(rule, {node, graph_, model_, opset_});
  const auto rank = static_cast<std::size_t>(values->dims_size());
  // The kernel of QLinearMatMul knows the columns of a matrix, not those of many.
  const bool has_columns = node.op_type() == "Conv" || rank == 2;
  if (has_columns) wish.channel_axis = normalized_axis(rule.input(slot).channel_axis, rank);
  if (config_.per_channel && has_columns) {
    wish.axis = wish.channel_axis;
    wish.is_int8 = node.op_type() == "Conv";
  }
  return tensors_.constant(name, wish);
}

/// Whether every value that `name` may have is one that the plan's integers stand for, but for half
/// a step.
bool QOperatorWalk::represents(int plan, const std::string& name) {
  if (ranges_.is_draft()) return true;
  std::optional<Range> range = ranges_.range(name);
  if (const onnx::TensorProto* values = graph_.initializer(name)) {
    if (element_count(*values) != 1) return false;
    const float value = to_float32(model_.tensor(*values)).front();
    range = Range{value, value};
  }
  if (!range) return false;
  const QuantParams& params = tensors_.at(plan).params;
  const IntegerRange full = full_range(params.type);
  const double scale = params.scales.front();
  const double low = (full.min - params.zero_points.front() - 0.5) * scale;
  const double high = (full.max - params.zero_points.front() + 0.5) * scale;
  return range->min >= low && range->max <= high;
}

int QOperatorWalk::pad_value(const onnx::NodeProto& node, const NodeForm& form,
                             std::string& obstacle) {
  const std::string& name = node.input(2);
  if (string_attribute(node, "mode", "constant") != "constant") return -1;
  tensors_.measure(name);
  if (!tensors_.is_float(name) || !represents(form.inputs[0], name)) {
    obstacle = fmt::format("'{}' is not among the values of its input", name);
    return -1;
  }
  return tensors_.in_terms_of(name, form.inputs[0]);
}

}  // namespace

QuantPlan plan_qoperator_as_onnxruntime(const Model& model, const TensorRanges* ranges,
                                        const QuantizationConfig& config) {
  return QOperatorWalk(model, ranges, config).run();
}

std::vector<std::string> tensors_measured_by_qoperator(const Model& model,
                                                       const QuantizationConfig& config) {
  QOperatorWalk walk(model, nullptr, config);
  walk.run();
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  for (const std::string& name : walk.measured()) {
    if (seen.insert(name).second) out.push_back(name);
  }
  return out;
}

}  // namespace qtool
