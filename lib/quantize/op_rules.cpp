#include "quantize/op_rules.h"

#include <algorithm>

namespace qtool {
namespace {

constexpr InputRule activation() { return {InputRole::Activation}; }
constexpr InputRule weight(std::int8_t axis) { return {InputRole::Weight, axis}; }
constexpr InputRule matrix(std::int8_t axis) { return {InputRole::Weight, axis, true}; }
constexpr InputRule bias() { return {InputRole::Bias}; }
constexpr InputRule stays_float() { return {InputRole::Float}; }

constexpr RuntimeSet but(RuntimeSet runtimes) { return kEveryRuntime & ~runtimes; }

/// The row for runtimes that `runtimes` is none of.
constexpr OpRule not_on(RuntimeSet runtimes, OpRule row) {
  row.integer_on &= but(runtimes);
  return row;
}

/// A row that preset `onnxruntime` does without.
constexpr OpRule own(OpRule row) {
  row.is_own = true;
  return row;
}

/// Every input is an activation, every output has its own range.
constexpr OpRule elementwise(std::string_view op_type, OutputParams outputs = OutputParams::Own) {
  return {.op_type = op_type,
          .inputs = {activation(), activation(), activation()},
          .other_inputs = activation(),
          .outputs = outputs,
          .entry = Entry::OutputRead,
          .integer_on = but(kMiGraphX)};
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
  return {.op_type = op_type,
          .inputs = {activation()},
          .entry = Entry::OutputRead,
          .integer_on = but(kCpuProvider | kTensorRt | kOpenVino | kMiGraphX)};
}

/// Sorted by op_type. Operators without a row stay in float.
constexpr OpRule kOpRules[] = {
    elementwise("Add"),
    not_on(kTensorRt, elementwise("ArgMax")),
    mover("AveragePool"),
    normalization("BatchNormalization"),
    clamp("Clip"),
    elementwise("Concat"),
    {.op_type = "Conv", .inputs = {activation(), weight(0), bias()}, .gives_integers = true},
    {.op_type = "ConvTranspose",
     .inputs = {activation(), weight(1), bias()},
     .gives_integers = true,
     .integer_on = but(kCpuProvider | kMiGraphX),
     .refine = refine_conv_transpose},
    not_on(kCpuProvider | kTensorRt, elementwise("CumSum")),
    own(mover("DepthToSpace", 13)),
    own(not_on(kCpuProvider | kTensorRt | kOpenVino, elementwise("Div"))),
    {.op_type = "EmbedLayerNormalization",
     .domain = "com.microsoft",
     .inputs = {activation(), activation(), activation()},
     .other_inputs = activation()},
    mover("Flatten"),
    gather("Gather"),
    gather("GatherElements"),
    {.op_type = "Gemm", .inputs = {activation(), matrix(1), bias()}, .refine = refine_gemm},
    elementwise("GlobalAveragePool"),
    normalization("InstanceNormalization"),
    normalization("LayerNormalization"),
    elementwise("LeakyRelu"),
    {.op_type = "MatMul", .inputs = {matrix(-2), matrix(-1)}, .floats_need_columns = true},
    mover("MaxPool", 12),
    elementwise("Mul"),
    {.op_type = "Pad",
     .inputs = {activation(), stays_float(), activation()},
     .entry = Entry::OutputRead,
     .integer_on = but(kCpuProvider),
     .refine = refine_pad},
    own(mover("ReduceMax", 12)),
    own(mover("ReduceMin", 12)),
    clamp("Relu"),
    mover("Reshape"),
    {.op_type = "Resize",
     .inputs = {activation()},
     .outputs = OutputParams::SharedWithInput,
     .entry = Entry::QuantizedInput,
     .since_opset = 11,
     .obstacle = resize_obstacle},
    elementwise("Sigmoid"),
    mover("Slice"),
    not_on(kCpuProvider | kTensorRt, elementwise("Softmax", OutputParams::UnitInterval)),
    {.op_type = "Split",
     .inputs = {activation()},
     .outputs = OutputParams::SharedWithInput,
     .entry = Entry::OutputRead},
    mover("Squeeze"),
    own(not_on(kCpuProvider | kTensorRt | kOpenVino, elementwise("Sub"))),
    not_on(kCpuProvider | kTensorRt, mover("TopK")),
    mover("Transpose"),
    mover("Unsqueeze"),
    {.op_type = "Where",
     .inputs = {stays_float(), activation(), activation()},
     .entry = Entry::QuantizedInputs},
};
static_assert(std::ranges::is_sorted(kOpRules, {}, &OpRule::op_type),
              "keep kOpRules sorted by op_type");

/// Operators that a quantizer behind them may be moved in front of. Sorted.
constexpr auto kPassed = std::to_array<std::string_view>(
    {"Flatten", "MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"});

constexpr OpRule kGenericRule = elementwise("");

constexpr OpRule rescaling(int data_slot) {
  OpRule row{.op_type = "",
             .outputs = OutputParams::Rescaled,
             .entry = Entry::QuantizedInput,
             .data_slot = data_slot};
  row.inputs[static_cast<std::size_t>(data_slot)] = activation();
  return row;
}
constexpr OpRule kRescalingRules[] = {rescaling(0), rescaling(1)};

constexpr OpRule kFloatLayerRule = {.op_type = "", .computes_in_float = true};

/// The table for a device that has no float kernels: scale and bias of normalizations too.
constexpr auto kQnnRules = [] {
  auto rows = std::to_array(kOpRules);
  for (OpRule& row : rows) {
    if (row.op_type == "LayerNormalization" || row.op_type == "InstanceNormalization")
      row.inputs = {activation(), weight(0), bias()};
    if (row.op_type == "Where") row.entry = Entry::Always;
  }
  return rows;
}();

constexpr Placement kEverything{.rules = kOpRules, .follows_onnxruntime = true};

constexpr Placement kCpu{.rules = kOpRules,
                         .corrects_biases = true,
                         .runtime = kCpuProvider,
                         .needs_constant_weights = true,
                         .float_channels = 4,
                         .float_channels_behind = 16,
                         .sums_in_float = true,
                         .spares_noisy_weights = true,
                         .rescales_for_free = true,
                         .joins_mixed_inputs = true,
                         .holds_quantizers = true,
                         .fuses_gelu = true};

constexpr Placement kCpuAvx2 = [] {
  Placement out = kCpu;
  out.adds_in_pairs = true;
  return out;
}();

constexpr Placement kTensorRtPlacement{.rules = kOpRules,
                                       .runtime = kTensorRt,
                                       .needs_constant_weights = true,
                                       .joins_mixed_inputs = true,
                                       .layers_give_floats = true,
                                       .adds_to_layers = true};

constexpr Placement kMiGraphXPlacement{.rules = kOpRules,
                                       .runtime = kMiGraphX,
                                       .needs_constant_weights = true,
                                       .layers_give_floats = true};

constexpr Placement kOpenVinoPlacement = [] {
  Placement out = kTensorRtPlacement;
  out.runtime = kOpenVino;
  out.joins_mixed_inputs = false;
  return out;
}();

constexpr Placement kQnnPlacement{.rules = kQnnRules, .runtime = kQnn, .takes_everything = true};

}  // namespace

const Placement& placement_for(Preset preset) {
  switch (preset) {
    case Preset::OnnxRuntime:
      return kEverything;
    case Preset::CpuAvx2:
      return kCpuAvx2;
    case Preset::TensorRt:
      return kTensorRtPlacement;
    case Preset::MiGraphX:
      return kMiGraphXPlacement;
    case Preset::OpenVino:
      return kOpenVinoPlacement;
    case Preset::Qnn:
      return kQnnPlacement;
    case Preset::Cpu:
    case Preset::Arm64:
      break;
  }
  return kCpu;
}

const OpRule* find_rule(const Placement& placement, std::string_view op_type,
                        std::string_view domain) {
  const auto row = std::ranges::lower_bound(placement.rules, op_type, {}, &OpRule::op_type);
  if (row == placement.rules.end() || row->op_type != op_type) return nullptr;
  const bool same_domain =
      row->domain == domain || (row->domain.empty() && is_default_domain(domain));
  const bool is_known = !row->is_own || !placement.follows_onnxruntime;
  return same_domain && is_known ? &*row : nullptr;
}

std::string obstacle_behind(std::string_view op_type, ElementType type) {
  const bool is_float8 = type == ElementType::Float8E4M3FN;
  const bool is_small = element_bits(type) < 8;
  const bool has_obstacle = (is_small && op_type == "MaxPool") ||
                            ((is_small || is_float8) && op_type == "Clip") ||
                            (is_float8 && op_type == "Relu");
  return has_obstacle ? "cannot follow a " + std::string(op_type) + " as " + element_type_name(type)
                      : "";
}

std::string obstacle_before(std::string_view op_type, ElementType type) {
  const bool has_obstacle = op_type == "MaxPool" && element_bits(type) < 8;
  return has_obstacle ? "has no form of type " + element_type_name(type) : "";
}

bool passes_quantizers(std::string_view op_type) {
  return std::ranges::binary_search(kPassed, op_type);
}

std::string obstacle_by_maker(const GraphView& graph, const std::string& value, ElementType type) {
  for (int producer = graph.producer_of(value); producer >= 0;) {
    const auto& node = graph.node(producer);
    std::string obstacle = obstacle_behind(node.op_type(), type);
    if (!obstacle.empty()) return obstacle;
    // Runtimes move a quantizer in front of what only moves values.
    producer = passes_quantizers(node.op_type()) && node.input_size() > 0
                   ? graph.producer_of(node.input(0))
                   : -1;
  }
  return "";
}

std::string obstacle_by_readers(const GraphView& graph, const std::string& value,
                                ElementType type) {
  for (const Use& use : graph.uses_of(value)) {
    const std::string& reader = graph.node(use.node).op_type();
    if (!obstacle_before(reader, type).empty())
      return "is read by a " + reader + ", which " + obstacle_before(reader, type);
  }
  return "";
}

const OpRule& generic_rule() { return kGenericRule; }

const OpRule& float_layer_rule() { return kFloatLayerRule; }

const OpRule& rescaling_rule(int data_slot) {
  return kRescalingRules[static_cast<std::size_t>(data_slot)];
}

}  // namespace qtool
