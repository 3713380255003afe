#include "quantize/op_rules.h"

#include <algorithm>

namespace qtool {
namespace {

constexpr InputRule activation() { return {InputRole::Activation}; }
constexpr InputRule weight(std::int8_t axis) { return {InputRole::Weight, axis}; }
constexpr InputRule bias() { return {InputRole::Bias}; }
constexpr InputRule stays_float() { return {InputRole::Float}; }

/// Every input is an activation, every output has its own range.
constexpr OpRule elementwise(std::string_view op_type, OutputParams outputs = OutputParams::Own) {
  return {.op_type = op_type,
          .inputs = {activation(), activation(), activation()},
          .other_inputs = activation(),
          .outputs = outputs,
          .entry = Entry::OutputRead};
}

/// The operator moves or selects values of input 0.
constexpr OpRule mover(std::string_view op_type, std::int64_t since_opset = 1) {
  return {.op_type = op_type,
          .inputs = {activation()},
          .outputs = OutputParams::SharedWithInput,
          .entry = Entry::QuantizedInput,
          .since_opset = since_opset};
}

constexpr OpRule clamp(std::string_view op_type) {
  return {.op_type = op_type,
          .inputs = {activation()},
          .outputs = OutputParams::FoldedIntoProducer,
          .entry = Entry::QuantizedInput};
}

constexpr OpRule gather(std::string_view op_type) {
  return {.op_type = op_type,
          .inputs = {activation()},
          .outputs = OutputParams::SharedWithInput,
          .entry = Entry::ConstantOrQuantizedInput};
}

/// Scale and bias stay in float: eight bits for them cost accuracy and no runtime gains by it.
constexpr OpRule normalization(std::string_view op_type) {
  return {.op_type = op_type, .inputs = {activation()}, .entry = Entry::OutputRead};
}

/// Sorted by op_type. Operators without a row stay in float.
constexpr OpRule kOpRules[] = {
    elementwise("Add"),
    elementwise("ArgMax"),
    mover("AveragePool"),
    normalization("BatchNormalization"),
    clamp("Clip"),
    elementwise("Concat"),
    {.op_type = "Conv", .inputs = {activation(), weight(0), bias()}, .gives_integers = true},
    {.op_type = "ConvTranspose",
     .inputs = {activation(), weight(1), bias()},
     .gives_integers = true,
     .refine = refine_conv_transpose},
    elementwise("CumSum"),
    {.op_type = "EmbedLayerNormalization",
     .domain = "com.microsoft",
     .inputs = {activation(), activation(), activation()},
     .other_inputs = activation()},
    mover("Flatten"),
    gather("Gather"),
    gather("GatherElements"),
    {.op_type = "Gemm", .inputs = {activation(), weight(1), bias()}, .refine = refine_gemm},
    elementwise("GlobalAveragePool"),
    normalization("InstanceNormalization"),
    normalization("LayerNormalization"),
    elementwise("LeakyRelu"),
    {.op_type = "MatMul", .inputs = {weight(-2), weight(-1)}, .refine = refine_matmul},
    mover("MaxPool", 12),
    elementwise("Mul"),
    {.op_type = "Pad",
     .inputs = {activation(), stays_float(), activation()},
     .entry = Entry::OutputRead,
     .refine = refine_pad},
    clamp("Relu"),
    mover("Reshape"),
    mover("Resize", 11),
    elementwise("Sigmoid"),
    mover("Slice"),
    elementwise("Softmax", OutputParams::UnitInterval),
    {.op_type = "Split",
     .inputs = {activation()},
     .outputs = OutputParams::SharedWithInput,
     .entry = Entry::OutputRead},
    mover("Squeeze"),
    mover("TopK"),
    mover("Transpose"),
    mover("Unsqueeze"),
    {.op_type = "Where",
     .inputs = {stays_float(), activation(), activation()},
     .entry = Entry::QuantizedInputs},
};
static_assert(std::ranges::is_sorted(kOpRules, {}, &OpRule::op_type),
              "keep kOpRules sorted by op_type");

constexpr OpRule kGenericRule = elementwise("");

}  // namespace

const Placement& placement_for(Preset preset) {
  static constexpr Placement kEverything{
      .rules = kOpRules, .quantizes_unread = true, .corrects_biases = false};
  static constexpr Placement kWhatIsRead{
      .rules = kOpRules, .quantizes_unread = false, .corrects_biases = true};
  return preset == Preset::OnnxRuntime ? kEverything : kWhatIsRead;
}

const OpRule* find_rule(const Placement& placement, std::string_view op_type,
                        std::string_view domain) {
  const auto row = std::ranges::lower_bound(placement.rules, op_type, {}, &OpRule::op_type);
  if (row == placement.rules.end() || row->op_type != op_type) return nullptr;
  const bool same_domain =
      row->domain == domain || (row->domain.empty() && is_default_domain(domain));
  return same_domain ? &*row : nullptr;
}

const OpRule& generic_rule() { return kGenericRule; }

}  // namespace qtool
