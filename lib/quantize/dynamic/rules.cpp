#include "quantize/dynamic/rules.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <limits>

#include "quantize/dynamic/weight_source.h"
#include "quantize/schemes.h"

namespace qtool {
namespace {

using Form = DynamicNode::Form;
using Constant = GraphScopes::Constant;

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::int64_t kFirstWithAxis = 13;     // of DequantizeLinear
constexpr std::int64_t kFirstWithFloat16 = 19;  // the same

/// Products of unsigned and signed 8-bit values that an int32 surely holds.
constexpr std::int64_t kLongestSum = std::numeric_limits<std::int32_t>::max() / (255 * 128);

bool is_quantizable(ElementType type) {
  return type == ElementType::Float || type == ElementType::Float16;
}

bool holds_weights(const onnx::TensorProto& tensor) {
  return is_quantizable(element_type(tensor)) || element_type(tensor) == ElementType::BFloat16;
}

/// The float initializer that the node reads at `slot`; otherwise why there is none.
std::optional<Constant> weight_at(const DynamicContext& context, int slot, std::string& obstacle) {
  const std::string name = has_input(context.node, slot) ? context.node.input(slot) : "";
  const auto found = context.scopes.constant(name);
  if (!found) {
    obstacle = fmt::format("'{}' is not constant", name);
  } else if (!is_quantizable(element_type(*found->tensor))) {
    obstacle =
        fmt::format("'{}' has type {}", name, element_type_name(element_type(*found->tensor)));
  } else if (element_count(*found->tensor) == 0) {
    obstacle = fmt::format("'{}' has no values", name);
  } else {
    return found;
  }
  return std::nullopt;
}

/// The same for a factor of a product, which may be transposed and cast on its way to the node.
std::optional<WeightSource> factor_at(const DynamicContext& context, int slot,
                                      std::string& obstacle) {
  const std::string name = has_input(context.node, slot) ? context.node.input(slot) : "";
  auto found = weight_source(context.scopes, name);
  if (!found) {
    obstacle = fmt::format("'{}' is not constant", name);
  } else if (!is_quantizable(found->type) || !holds_weights(*found->constant.tensor)) {
    obstacle = fmt::format("'{}' has type {}", name, element_type_name(found->type));
  } else if (element_count(*found->constant.tensor) == 0) {
    obstacle = fmt::format("'{}' has no values", name);
  } else {
    return found;
  }
  return std::nullopt;
}

/// A spec in the config's weight type; `axis_count` axes from `axis` on have scales of their own.
WeightSpec spec_of(const DynamicContext& context, const Constant& weight, std::int64_t axis,
                   std::int64_t axis_count) {
  const TensorOverride* override = context.weights.override_of(weight.tensor->name());
  WeightSpec spec;
  spec.first_channel_axis = axis;
  spec.channel_axis_count = axis_count;
  spec.scheme = constant_scheme(context.config, override, ConstantUse::Weight, axis_count > 0,
                                ElementType::Float);
  // Symmetric integers of all channels have the same zero point.
  spec.has_one_zero_point = axis_count > 0 && spec.scheme.is_symmetric;
  return spec;
}

/// Stores the weight and has the node read it at `slot`.
std::string store(const DynamicContext& context, const Constant& weight, const WeightSpec& spec,
                  int slot, DynamicNode& out) {
  const int index = context.weights.add(weight, spec);
  if (index < 0) return fmt::format("'{}' has values that are not finite", weight.tensor->name());
  out.inputs[static_cast<std::size_t>(slot)] = index;
  return "";
}

void begin(const DynamicContext& context, Form form, ElementType value_type, DynamicNode& out) {
  out.form = form;
  out.value_type = value_type;
  out.inputs.assign(static_cast<std::size_t>(context.node.input_size()), DynamicNode::kAsIs);
}

std::string sum_obstacle(std::int64_t length) {
  return length <= kLongestSum ? "" : fmt::format("sums of {} products do not fit int32", length);
}

/// A product of two values that are both quantized at run time.
std::string plan_computed_product(const DynamicContext& context, DynamicNode& out) {
  const auto type = context.scopes.type_of(context.node.input(1));
  const auto other = context.scopes.type_of(context.node.input(0));
  if (!is_quantizable(type) || other != type) return "the types of its inputs are not known";
  begin(context, Form::Product, type, out);
  std::ranges::fill(out.inputs, DynamicNode::kAtRunTime);
  return "";
}

/// The form of a factor whose integers are stored transposed where `is_transposed`. The fused
/// kernel knows the columns of a matrix, not those of many.
WeightSpec factor_spec(const DynamicContext& context, const WeightSource& weight,
                       bool is_transposed) {
  const bool has_channels = context.config.per_channel && weight.shape().size() == 2;
  WeightSpec spec = spec_of(context, weight.constant, is_transposed ? 0 : 1, has_channels ? 1 : 0);
  spec.swaps_last_axes = is_transposed;
  if (is_transposed) spec.stem = weight.constant.tensor->name() + "_Transposed";
  return spec;
}

std::string plan_matmul(const DynamicContext& context, DynamicNode& out) {
  std::string obstacle;
  const auto weight = factor_at(context, 1, obstacle);
  const bool is_computed = !weight_source(context.scopes, context.node.input(1));
  if (is_computed && !context.config.extra_options.mat_mul_const_b_only.value_or(true))
    return plan_computed_product(context, out);
  if (!weight) return obstacle;
  const auto shape = weight->shape();
  if (shape.empty()) return "its weight is a scalar";
  obstacle = sum_obstacle(shape[shape.size() == 1 ? 0 : shape.size() - 2]);
  if (!obstacle.empty()) return obstacle;
  begin(context, Form::Product, weight->type, out);
  out.inputs[0] = DynamicNode::kAtRunTime;
  out.bypassed = weight->bypassed;
  return store(context, weight->constant, factor_spec(context, *weight, weight->is_transposed), 1,
               out);
}

std::string plan_gemm(const DynamicContext& context, DynamicNode& out) {
  std::string obstacle;
  const auto weight = factor_at(context, 1, obstacle);
  if (!weight) return obstacle;
  const auto shape = weight->shape();
  if (shape.size() != 2) return "its weight is no matrix";
  const bool is_transposed = int_attribute(context.node, "transB", 0) != 0;
  obstacle = sum_obstacle(shape[is_transposed ? 1 : 0]);
  if (!obstacle.empty()) return obstacle;
  begin(context, Form::Product, weight->type, out);
  out.inputs[0] = DynamicNode::kAtRunTime;
  out.bypassed = weight->bypassed;
  WeightSpec spec = factor_spec(context, *weight, is_transposed != weight->is_transposed);
  spec.factor = float_attribute(context.node, "alpha", 1);
  return store(context, weight->constant, spec, 1, out);
}

std::string plan_conv(const DynamicContext& context, DynamicNode& out) {
  std::string obstacle;
  const auto weight = weight_at(context, 1, obstacle);
  if (!weight) return obstacle;
  const auto rank = weight->tensor->dims_size();
  if (rank < 3) return "its weight has no spatial axis";
  const auto sums =
      static_cast<std::int64_t>(element_count(*weight->tensor)) / weight->tensor->dims(0);
  obstacle = sum_obstacle(sums);
  if (!obstacle.empty()) return obstacle;
  begin(context, Form::Convolution, element_type(*weight->tensor), out);
  out.inputs[0] = DynamicNode::kAtRunTime;
  WeightSpec spec = spec_of(context, *weight, 0, context.config.per_channel ? 1 : 0);
  if (spec.channel_axis_count > 0) {
    // As it multiplies the output: [C, 1, 1 …].
    spec.params_shape.emplace(static_cast<std::size_t>(rank) - 1, 1);
    spec.params_shape->front() = weight->tensor->dims(0);
  }
  return store(context, *weight, spec, 1, out);
}

/// Weights of a recurrent operator that has no integer kernel for them.
std::string plan_stored_weights(const DynamicContext& context, DynamicNode& out) {
  DynamicNode node = out;
  for (const int slot : {1, 2}) {
    std::string obstacle;
    const auto weight = weight_at(context, slot, obstacle);
    if (!weight) return obstacle;
    const ElementType type = element_type(*weight->tensor);
    if (slot == 1) begin(context, Form::StoredWeights, type, node);
    const bool has_axis = weight->tensor->dims_size() == 3 && context.opset >= kFirstWithAxis;
    WeightSpec spec = spec_of(context, *weight, 1, context.config.per_channel && has_axis ? 1 : 0);
    spec.has_one_zero_point = false;
    obstacle = store(context, *weight, spec, slot, node);
    if (!obstacle.empty()) return obstacle;
  }
  out = std::move(node);
  return "";
}

std::string plan_lstm(const DynamicContext& context, DynamicNode& out) {
  DynamicNode node = out;
  for (const int slot : {1, 2}) {
    std::string obstacle;
    const auto weight = weight_at(context, slot, obstacle);
    if (!weight) return obstacle;
    if (weight->tensor->dims_size() != 3) return "its weights have no three axes";
    const ElementType type = element_type(*weight->tensor);
    // The integer kernel computes in float32 only.
    if (type != ElementType::Float) return plan_stored_weights(context, out);
    if (slot == 1) begin(context, Form::Lstm, type, node);
    WeightSpec spec = spec_of(context, *weight, 0, context.config.per_channel ? 2 : 1);
    // The kernel wants zero points of zero where there are several.
    spec.scheme.type = ElementType::Int8;
    spec.scheme.is_symmetric = true;
    spec.swaps_last_axes = true;
    spec.has_one_zero_point = false;
    obstacle = store(context, *weight, spec, slot, node);
    if (!obstacle.empty()) return obstacle;
  }
  out = std::move(node);
  return "";
}

std::string plan_attention(const DynamicContext& context, DynamicNode& out) {
  std::string obstacle = attention_obstacle(context.node);
  if (!obstacle.empty()) return obstacle;
  const auto weight = weight_at(context, 1, obstacle);
  if (!weight) return obstacle;
  const auto rank = weight->tensor->dims_size();
  if (rank != 2) return "its weight is no matrix";
  if (element_type(*weight->tensor) != ElementType::Float)
    return "QAttention computes in float32 only";
  begin(context, Form::Attention, ElementType::Float, out);
  out.inputs[0] = DynamicNode::kAtRunTime;
  WeightSpec spec = spec_of(context, *weight, 1, context.config.per_channel ? 1 : 0);
  spec.has_one_zero_point = false;
  return store(context, *weight, spec, 1, out);
}

std::string plan_embedding(const DynamicContext& context, DynamicNode& out) {
  const onnx::NodeProto& node = context.node;
  if (std::string obstacle = embedding_obstacle(node); !obstacle.empty()) return obstacle;
  std::array<std::optional<Constant>, 7> weights;
  for (int slot = 2; slot < 7; ++slot) {
    std::string obstacle;
    if (slot == 4 && !has_input(node, slot)) continue;
    weights[static_cast<std::size_t>(slot)] = weight_at(context, slot, obstacle);
    if (!obstacle.empty()) return obstacle;
  }
  if (element_type(*weights[2]->tensor) != ElementType::Float)
    return "QEmbedLayerNormalization computes in float32 only";
  begin(context, Form::Embedding, ElementType::Float, out);
  for (int slot = 2; slot < 7; ++slot) {
    const auto& weight = weights[static_cast<std::size_t>(slot)];
    if (!weight) continue;
    WeightSpec spec = spec_of(context, *weight, 0, 0);
    // The kernel wants uint8.
    spec.scheme.type = ElementType::UInt8;
    spec.scheme.is_symmetric = false;
    spec.scheme.is_reduced = false;
    std::string obstacle = store(context, *weight, spec, slot, out);
    if (!obstacle.empty()) return obstacle;
  }
  return "";
}

std::string plan_gather(const DynamicContext& context, DynamicNode& out) {
  std::string obstacle;
  const auto weight = weight_at(context, 0, obstacle);
  if (!weight) return obstacle;
  begin(context, Form::Gather, element_type(*weight->tensor), out);
  const auto rank = weight->tensor->dims_size();
  const auto axis =
      normalized_axis(int_attribute(context.node, "axis", 0), static_cast<std::size_t>(rank));
  // The last axis of what is gathered is the weight's, and can keep its scales.
  const bool keeps_last = rank > 1 && axis < rank - 1 && context.opset >= kFirstWithAxis;
  WeightSpec spec =
      spec_of(context, *weight, rank - 1, context.config.per_channel && keeps_last ? 1 : 0);
  spec.has_one_zero_point = false;
  // What is only stored needs no range reduced for the sums of a product.
  spec.scheme.is_reduced = false;
  return store(context, *weight, spec, 0, out);
}

/// Sorted by op_type. Operators without a row stay in float.
constexpr DynamicRule kRules[] = {
    {.op_type = "Attention", .domain = kMicrosoft, .plan = plan_attention},
    {.op_type = "Conv", .is_on_demand = true, .plan = plan_conv},
    {.op_type = "EmbedLayerNormalization", .domain = kMicrosoft, .plan = plan_embedding},
    {.op_type = "GRU", .plan = plan_stored_weights},
    {.op_type = "Gather", .plan = plan_gather},
    {.op_type = "Gemm", .plan = plan_gemm},
    {.op_type = "LSTM", .plan = plan_lstm},
    {.op_type = "MatMul", .plan = plan_matmul},
    {.op_type = "RNN", .plan = plan_stored_weights},
};
static_assert(std::ranges::is_sorted(kRules, {}, &DynamicRule::op_type),
              "keep kRules sorted by op_type");

/// The same operators as rows of static quantization's form, of which only type and domain count.
constexpr auto kRows = [] {
  std::array<OpRule, std::size(kRules)> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].op_type = kRules[i].op_type;
    rows[i].domain = kRules[i].domain;
  }
  return rows;
}();

}  // namespace

std::span<const DynamicRule> dynamic_rules() { return kRules; }

const DynamicRule* find_dynamic_rule(std::string_view op_type, std::string_view domain) {
  const auto* const row = std::ranges::lower_bound(kRules, op_type, {}, &DynamicRule::op_type);
  if (row == std::ranges::end(kRules) || row->op_type != op_type) return nullptr;
  const bool same_domain =
      row->domain == domain || (row->domain.empty() && is_default_domain(domain));
  return same_domain ? row : nullptr;
}

const Placement& dynamic_placement() {
  static constexpr Placement kPlacement{.rules = kRows};
  return kPlacement;
}

std::string attention_obstacle(const onnx::NodeProto& node) {
  for (const char* name : {"qkv_hidden_sizes", "scale", "rotary_embedding_dim"}) {
    if (find_attribute(node, name) != nullptr)
      return fmt::format("QAttention has no attribute {}", name);
  }
  for (int slot = 5; slot < node.input_size(); ++slot) {
    if (has_input(node, slot)) return fmt::format("QAttention has no input '{}'", node.input(slot));
  }
  return has_input(node, 2) ? "" : "QAttention needs a bias";
}

std::string embedding_obstacle(const onnx::NodeProto& node) {
  if (node.output_size() > 2 && !node.output(2).empty())
    return "QEmbedLayerNormalization does not give the sum of embeddings";
  if (has_input(node, 8)) return "QEmbedLayerNormalization has no positions as an input";
  if (int_attribute(node, "mask_index_type", 1) != 1)
    return "QEmbedLayerNormalization has no other mask index";
  return "";
}

std::string display_name(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

bool has_input(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() && !node.input(slot).empty();
}

}  // namespace qtool
