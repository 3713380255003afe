#include "quantize/integer_forms.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/attributes.h"
#include "model/model.h"

namespace qtool {
namespace {

using Part = Operand::Part;

constexpr std::string_view kMicrosoft = "com.microsoft";

// The order of the inputs of the integer operators.
constexpr Operand kUnary[] = {{Part::Activation, 0}, {Part::Output}};
constexpr Operand kBinary[] = {{Part::Activation, 0}, {Part::Activation, 1}, {Part::Output}};
constexpr Operand kConv[] = {
    {Part::Activation, 0}, {Part::Weight, 1}, {Part::Output}, {Part::Bias, 2}};
constexpr Operand kGemm[] = {
    {Part::Activation, 0}, {Part::Weight, 1}, {Part::Bias, 2}, {Part::Output}};
constexpr Operand kMatMul[] = {{Part::Activation, 0}, {Part::Weight, 1}, {Part::Output}};
constexpr Operand kConcat[] = {{Part::Output}, {Part::All}};
constexpr Operand kWhere[] = {
    {Part::AsIs, 0}, {Part::Activation, 1}, {Part::Activation, 2}, {Part::Output}};
constexpr Operand kEmbedding[] = {{Part::AsIs, 0},      {Part::AsIs, 1},      {Part::Integers, 2},
                                  {Part::Integers, 3},  {Part::Integers, 4},  {Part::Integers, 5},
                                  {Part::Integers, 6},  {Part::AsIs, 7},      {Part::Scale, 2},
                                  {Part::Scale, 3},     {Part::Scale, 4},     {Part::Scale, 5},
                                  {Part::Scale, 6},     {Part::ZeroPoint, 2}, {Part::ZeroPoint, 3},
                                  {Part::ZeroPoint, 4}, {Part::ZeroPoint, 5}, {Part::ZeroPoint, 6}};
constexpr Operand kItself[] = {{Part::Integers, 0}};
constexpr Operand kPad[] = {{Part::Integers, 0}, {Part::AsIs, 1}, {Part::PadValue, 2}};

constexpr IntegerForm contrib(std::string_view op_type, std::string_view integer_op,
                              std::span<const Operand> operands) {
  return {.op_type = op_type,
          .integer_op = integer_op,
          .integer_domain = kMicrosoft,
          .operands = operands};
}

/// The operator itself moves or selects 8-bit values.
constexpr IntegerForm mover(std::string_view op_type, std::int64_t since_opset = 1) {
  return {.op_type = op_type,
          .integer_op = {},
          .operands = kItself,
          .output = OutputForm::AsInput,
          .joining = Joining::QuantizedInput,
          .since_opset = since_opset};
}

constexpr IntegerForm with(IntegerForm form, OutputForm output, Joining joining) {
  form.output = output;
  form.joining = joining;
  return form;
}

constexpr IntegerForm kForms[] = {
    contrib("Add", "QLinearAdd", kBinary),
    with(mover("ArgMax"), OutputForm::Float, Joining::QuantizedInput),
    {.op_type = "AveragePool",
     .integer_op = "QLinearAveragePool",
     .integer_domain = kMicrosoft,
     .operands = kUnary,
     .dropped_attribute = "dilations"},
    contrib("Concat", "QLinearConcat", kConcat),
    {.op_type = "Conv", .integer_op = "QLinearConv", .operands = kConv},
    {.op_type = "EmbedLayerNormalization",
     .domain = kMicrosoft,
     .integer_op = "QEmbedLayerNormalization",
     .integer_domain = kMicrosoft,
     .operands = kEmbedding,
     .output = OutputForm::Float},
    mover("Flatten"),
    with(mover("Gather"), OutputForm::AsInput, Joining::ConstantInput),
    {.op_type = "Gemm",
     .integer_op = "QGemm",
     .integer_domain = kMicrosoft,
     .operands = kGemm,
     .dropped_attribute = "beta"},
    with(contrib("GlobalAveragePool", "QLinearGlobalAveragePool", kUnary), OutputForm::OwnOrInput,
         Joining::QuantizedInput),
    contrib("LeakyRelu", "QLinearLeakyRelu", kUnary),
    {.op_type = "MatMul",
     .integer_op = "QLinearMatMul",
     .operands = kMatMul,
     .has_late_output = true},
    mover("MaxPool", 12),
    contrib("Mul", "QLinearMul", kBinary),
    {.op_type = "Pad",
     .integer_op = {},
     .operands = kPad,
     .output = OutputForm::AsInput,
     .joining = Joining::QuantizedInput,
     .since_opset = 11},
    mover("Reshape"),
    mover("Resize", 11),
    contrib("Sigmoid", "QLinearSigmoid", kUnary),
    with(contrib("Softmax", "QLinearSoftmax", kUnary), OutputForm::UnitSteps, Joining::Always),
    {.op_type = "Split",
     .integer_op = "Split",
     .operands = kItself,
     .output = OutputForm::AsInput,
     .output_suffix = "quantized"},
    mover("Squeeze"),
    mover("Transpose"),
    mover("Unsqueeze"),
    with(contrib("Where", "QLinearWhere", kWhere), OutputForm::Own, Joining::WhenForced),
};
static_assert(std::ranges::is_sorted(kForms, {}, &IntegerForm::op_type),
              "keep kForms sorted by op_type");

/// What an integer operator must be told beyond the float one's attributes.
void add_attributes(const IntegerForm& form, std::int64_t opset, onnx::NodeProto& node) {
  if (form.integer_op == "QLinearGlobalAveragePool") set_int(node, "channels_last", 0);
  if (form.integer_op != "QLinearSoftmax") return;
  set_int(node, "opset", opset);
  // Softmax normalizes from axis 1 on before opset 13; QLinearSoftmax takes the last axis.
  if (opset < 13 && find_attribute(node, "axis") == nullptr) set_int(node, "axis", 1);
}

bool is_8_bit(ElementType type) {
  return type == ElementType::UInt8 || type == ElementType::Int8 ||
         type == ElementType::Float8E4M3FN;
}

/// The plans that the form reads or writes with a scale, in the order of the operands.
std::vector<std::pair<Part, const QuantParams*>> scaled_tensors(
    const IntegerForm& form, const NodeForm& planned, std::span<const TensorPlan> tensors) {
  std::vector<std::pair<Part, const QuantParams*>> out;
  const auto add = [&](Part part, int index) {
    if (index >= 0) out.emplace_back(part, &tensors[static_cast<std::size_t>(index)].params);
  };
  for (const Operand& operand : form.operands) {
    switch (operand.part) {
      case Part::Activation:
      case Part::Weight:
      case Part::Integers:
      case Part::PadValue:
        if (operand.slot < static_cast<int>(planned.inputs.size()))
          add(operand.part, planned.inputs[static_cast<std::size_t>(operand.slot)]);
        break;
      case Part::All:
        for (const int input : planned.inputs) add(Part::Activation, input);
        break;
      default:
        break;
    }
  }
  for (const int output : planned.outputs) add(Part::Output, output);
  return out;
}

/// The kernels multiply or compare integers of one type; only weights may have another.
std::string type_obstacle(const IntegerForm& form, const NodeForm& planned,
                          std::span<const TensorPlan> tensors) {
  const auto scaled = scaled_tensors(form, planned, tensors);
  const ElementType type = scaled.empty() ? ElementType::UInt8 : scaled.front().second->type;
  for (const auto& [part, params] : scaled) {
    if (params->type == ElementType::Float8E4M3FN && form.op_type != "MatMul")
      return "only products of matrices take float8";
    if (!is_8_bit(params->type))
      return "integer operators take 8 bits, not " + element_type_name(params->type);
    if (part == Part::Weight) {
      if (type == ElementType::Int8 && params->type == ElementType::UInt8)
        return "int8 activations do not go with uint8 weights";
      continue;
    }
    if (params->type != type) return "its tensors have several types";
    if (params->axis) return "integer operators take one scale per activation";
  }
  return "";
}

std::string attribute_obstacle(const IntegerForm& form, const onnx::NodeProto& node) {
  const auto* dilations = find_attribute(node, "dilations");
  if (form.op_type == "AveragePool" && dilations != nullptr &&
      std::ranges::any_of(dilations->ints(), [](std::int64_t each) { return each != 1; }))
    return "QLinearAveragePool has no dilations";
  if (form.op_type == "Resize" && string_attribute(node, "mode", "nearest") == "cubic")
    return "cubic interpolation needs floats";
  if (form.op_type == "EmbedLayerNormalization" && node.output_size() > 2)
    return "QEmbedLayerNormalization has two outputs";
  const float alpha = form.op_type == "Gemm" ? float_attribute(node, "alpha", 1.0F) : 1.0F;
  if (!std::isnormal(alpha)) return "alpha is no factor of a scale";
  return "";
}

}  // namespace

std::span<const IntegerForm> integer_forms() { return kForms; }

const IntegerForm* find_integer_form(std::string_view op_type, std::string_view domain) {
  const auto* row = std::ranges::lower_bound(kForms, op_type, {}, &IntegerForm::op_type);
  if (row == std::end(kForms) || row->op_type != op_type) return nullptr;
  const bool same_domain =
      row->domain == domain || (row->domain.empty() && is_default_domain(domain));
  return same_domain ? row : nullptr;
}

bool takes_integers(const IntegerForm& form, int slot) {
  return std::ranges::any_of(form.operands, [&](const Operand& operand) {
    switch (operand.part) {
      case Part::All:
        return true;
      case Part::Activation:
      case Part::Weight:
      case Part::Integers:
        return operand.slot == slot;
      default:
        return false;
    }
  });
}

onnx::NodeProto integer_node(const IntegerForm& form, const onnx::NodeProto& original,
                             std::int64_t opset) {
  onnx::NodeProto node;
  node.set_op_type(std::string(form.integer_op));
  node.set_domain(std::string(form.integer_domain));
  for (const auto& attribute : original.attribute()) {
    if (attribute.name() != form.dropped_attribute) *node.add_attribute() = attribute;
  }
  add_attributes(form, opset, node);
  std::ranges::sort(*node.mutable_attribute(), {}, &onnx::AttributeProto::name);
  return node;
}

std::string form_obstacle(const IntegerForm& form, const onnx::NodeProto& node,
                          const NodeForm& planned, std::span<const TensorPlan> tensors) {
  if (std::string found = attribute_obstacle(form, node); !found.empty()) return found;
  return type_obstacle(form, planned, tensors);
}

}  // namespace qtool
