#include <fmt/format.h>

#include "model/wide_values.h"
#include "quantize/channel_input.h"
#include "quantize/graph_planner.h"
#include "quantize/masks.h"
#include "quantize/pair_sums.h"
#include "quantize/params.h"

namespace qtool {

bool GraphPlanner::can_quantize_output(const onnx::NodeProto& node) const {
  const std::string& name = node.output(0);
  return !excludes_output(node) && activation_obstacle(name).empty() &&
         (is_draft() || ranges_->contains(std::string(clamped_name(name))));
}

/// The axis that the user gives the channels of a constant.
ScaleSharing GraphPlanner::given_axis(const std::string& name) const {
  const TensorOverride* override = overrides_.find(name);
  if (!override || !override->axis) return {};
  const auto rank = static_cast<std::size_t>(graph_.initializer(name)->dims_size());
  return {.axis = normalized_axis(*override->axis, rank)};
}

/// Which values of a weight share a scale. Blocks run along the axis that is summed over, which of
/// the two last ones is the one that does not count channels.
ScaleSharing GraphPlanner::weight_sharing(const OpRule& rule, const onnx::NodeProto& node,
                                          int slot) const {
  const std::string& name = node.input(slot);
  if (overrides_.is_per_channel(name)) return given_axis(name);
  if (overrides_.is_per_tensor(name)) return {};
  const auto rank = static_cast<std::int64_t>(graph_.initializer(name)->dims_size());
  const auto& axes = config_.extra_options.qdq_op_type_per_channel_support_to_axis;
  const auto chosen = axes.find(node.op_type());
  const std::int64_t axis =
      normalized_axis(chosen == axes.end() ? rule.input(slot).channel_axis : chosen->second,
                      static_cast<std::size_t>(rank));
  if (axis < 0 || axis >= rank) return {};
  const bool takes_blocks =
      config_.extra_options.block_size > 0 && rule.input(slot).can_have_blocks && rank >= 2;
  ScaleSharing sharing;
  if (takes_blocks) {
    sharing = {.axis = axis == rank - 1 ? rank - 2 : rank - 1,
               .block_size = config_.extra_options.block_size};
  } else if (config_.per_channel) {
    sharing = {.axis = axis};
  }
  const bool is_free = !rule.floats_need_columns || has_column_scales(name, slot, sharing);
  return is_free || can_quantize_output(node) ? sharing : ScaleSharing{};
}

int GraphPlanner::plan_constant(Use use, ConstantUse as, const ScaleSharing& sharing) {
  const std::string& name = graph_.node(use.node).input(use.slot);
  const onnx::TensorProto& tensor = *graph_.initializer(name);
  const ElementType type = element_type(tensor);
  if (type != ElementType::Float && type != ElementType::Float16) return -1;
  const auto key = std::tuple(name, as, sharing.axis.value_or(-1));
  if (const auto found = constants_.find(key); found != constants_.end()) {
    plan_.tensors[static_cast<std::size_t>(found->second)].uses.push_back(use);
    return found->second;
  }
  if (graph_.is_graph_input(name)) {
    skip(use.node, name, "is a default that a caller may replace");
    return -1;
  }
  const bool is_per_channel = sharing.axis && sharing.block_size == 0;
  QuantScheme scheme = constant_scheme(config_, overrides_.find(name), as, is_per_channel, type);
  ConstantParams found{.params = {.type = scheme.type,
                                  .scales = {},
                                  .zero_points = {},
                                  .axis = sharing.axis,
                                  .block_size = sharing.block_size},
                       .is_zero = {}};
  if (!is_draft()) {
    const Tensor values = model_.tensor(tensor);
    auto params = constant_params(values, sharing, scheme, given_params(overrides_.channels(name)));
    if (!params) {
      skip(use.node, name, "holds NaN or infinity");
      plan_.warnings.push_back(fmt::format("'{}' holds NaN or infinity and stays in float", name));
      return -1;
    }
    found = std::move(*params);
    const std::string obstacle =
        as == ConstantUse::Operand ? obstacle_by_mask(WideValues(values).get(), found.params) : "";
    if (!obstacle.empty()) {
      skip(use.node, name, obstacle);
      return -1;
    }
  }
  plan_.tensors.push_back({.name = name,
                           .role = TensorPlan::Role::Constant,
                           .params = std::move(found.params),
                           .uses = {use},
                           .keeps_float = config_.extra_options.add_qdq_pair_to_weight,
                           .value_type = type,
                           .derivation = "constant"});
  const int at = static_cast<int>(plan_.tensors.size()) - 1;
  constants_[key] = at;
  zero_channels_[at] = std::move(found.is_zero);
  return at;
}

/// Gives weights that 16 bits could not add up wider scales. Of a draft it notes whose
/// peaks help to tell; scales that a user gives stay.
void GraphPlanner::look_at_pair_sums(int index, std::span<const int> input_plans) {
  const auto& node = graph_.node(index);
  if (input_plans[0] < 0 || input_plans[1] < 0) return;
  TensorPlan& weight = plan_.tensors[static_cast<std::size_t>(input_plans[1])];
  const TensorPlan& input = plan_.tensors[static_cast<std::size_t>(input_plans[0])];
  if (weight.role != TensorPlan::Role::Constant || input.role != TensorPlan::Role::Activation)
    return;
  const onnx::TensorProto& tensor = *graph_.initializer(weight.name);
  const auto channels = channel_input(node, tensor);
  if (!channels) return;
  if (is_draft()) return peaked_.push_back({channels->name, channels->axis});
  if (!given_params(overrides_.channels(weight.name)).scale.empty()) return;
  const auto peaks = context_.peaks->find(channels->name);
  const auto maxima = peaks == context_.peaks->end() ? std::span<const float>() : peaks->second;
  keep_sums_in_16_bits(node, model_.tensor(tensor), {params_seen_by(input, {index, 0}), maxima},
                       weight);
}

}  // namespace qtool
