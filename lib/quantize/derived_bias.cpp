#include "quantize/derived_bias.h"

#include <algorithm>
#include <limits>

#include "quantize/bias.h"

namespace qtool {
namespace {

/// Whether int32 holds the bias at the scale of the products; NaN and infinity it does not.
bool fits(const Tensor& stored, float input_scale, const QuantParams& weight) {
  const auto largest = largest_per_scale(stored, weight.scales.size());
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const double scale = static_cast<double>(input_scale) * weight.scales[i];
    if (!(largest[i] <= scale * std::numeric_limits<std::int32_t>::max())) return false;
  }
  return true;
}

}  // namespace

DerivedBias derive_bias(const Model& model, const GraphView& graph, const OpRule& rule, Use use,
                        const QuantParams& input, const QuantParams& weight) {
  const std::string& name = graph.node(use.node).input(use.slot);
  const onnx::TensorProto* values = graph.initializer(name);
  if (!values) return {.plan = {}, .obstacle = "a computed bias stays float"};
  const ElementType type = element_type(*values);
  if (type != ElementType::Float && type != ElementType::Float16) return {};
  if (graph.is_graph_input(name))
    return {.plan = {}, .obstacle = "is a default that a caller may replace"};
  const auto shape = graph.shape_of(graph.node(use.node).input(1));
  if (input.axis ||
      (weight.axis &&
       (!shape || *weight.axis != normalized_axis(rule.input(1).channel_axis, shape->size()))))
    return {.plan = {}, .obstacle = "the bias has no scale: the weight's lie along another axis"};
  const std::size_t scales = weight.scales.size();
  const std::size_t channels = scales > 1 ? scales * static_cast<std::size_t>(rule.bias_groups) : 1;
  const auto stored = stored_bias(model.tensor(*values), channels, rule.bias_factor);
  if (!stored) return {.plan = {}, .obstacle = "the bias does not fit the weight's channels"};
  const float input_scale = input.scales.front();
  if (!fits(*stored, input_scale, weight))
    return {.plan = {}, .obstacle = "int32 cannot hold the bias at the scale of the weights"};
  TensorPlan plan{
      .name = name,
      .role = TensorPlan::Role::Bias,
      .params =
          product_bias_params(*stored, weight, {.input_scale = input_scale, .value_type = type}),
      .uses = {use},
      .shape = stored->shape,
      .factor = rule.bias_factor,
      .value_type = type,
      .derivation = "scale=" + graph.node(use.node).input(0) + "*" + graph.node(use.node).input(1)};
  return {.plan = std::move(plan), .obstacle = {}};
}

}  // namespace qtool
