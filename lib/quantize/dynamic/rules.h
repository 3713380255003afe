#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "quantize/dynamic/plan.h"
#include "quantize/dynamic/scopes.h"
#include "quantize/dynamic/weight_store.h"
#include "quantize/op_rules.h"

namespace qtool {

/// What is known where a node is decided on.
struct DynamicContext {
  const onnx::NodeProto& node;
  const GraphScopes& scopes;
  WeightStore& weights;
  const QuantizationConfig& config;
  std::int64_t opset = 0;
};

/// What dynamic quantization knows of one operator.
struct DynamicRule {
  std::string_view op_type;
  std::string_view domain = {};
  /// Stays in float unless its type or name is asked for: integers are slower.
  bool is_on_demand = false;
  /// Fills in form, value type and inputs; the reason why the node stays in float otherwise.
  std::string (*plan)(const DynamicContext& context, DynamicNode& out) = nullptr;
};

/// Sorted by op_type.
std::span<const DynamicRule> dynamic_rules();
/// The row of an operator, or nullptr: it stays in float.
const DynamicRule* find_dynamic_rule(std::string_view op_type, std::string_view domain);

/// The operators of the table, for NodeFilter.
const Placement& dynamic_placement();

/// Why a node cannot become QAttention or QEmbedLayerNormalization by its attributes, inputs and
/// outputs, or nothing: what these drop or do not know.
std::string attention_obstacle(const onnx::NodeProto& node);
std::string embedding_obstacle(const onnx::NodeProto& node);

/// A node's name, or its first output's where it has none.
std::string display_name(const onnx::NodeProto& node);

/// Whether input `slot` is there.
bool has_input(const onnx::NodeProto& node, int slot);

}  // namespace qtool
