#include "quantize/graph_planner.h"

#include <fmt/format.h>
#include <iterator>

#include "quantize/bodies.h"
#include "quantize/derived_bias.h"
#include "quantize/size_nodes.h"

namespace qtool {

void GraphPlanner::select_rules() {
  const std::vector<bool> computes_size = size_nodes(graph_);
  selected_.resize(static_cast<std::size_t>(graph_.node_count()));
  for (int index = 0; index < graph_.node_count(); ++index) {
    SelectedNode& selected = selected_[static_cast<std::size_t>(index)];
    selected.rule = context_.filter.rule_for(graph_.node(index), selected.reason);
    if (selected.rule && opset_ < selected.rule->since_opset) {
      selected.reason =
          fmt::format("needs opset {}, the model has {}", selected.rule->since_opset, opset_);
      selected.rule = nullptr;
    }
    const std::string obstacle =
        obstacle_before(graph_.node(index).op_type(), element_type(config_.activation_type));
    if (selected.rule && !obstacle.empty()) selected = {nullptr, obstacle};
    if (selected.rule && has_replaceable_weight(*selected.rule, graph_.node(index)))
      selected = {nullptr, "its weight is a default that a caller may replace"};
    if (selected.rule && computes_size[static_cast<std::size_t>(index)])
      selected = {nullptr, "computes sizes, which rounding would change"};
    if (const std::string pairs = obstacle_of_pairs(index); selected.rule && !pairs.empty())
      selected = {nullptr, pairs};
  }
}

/// Runtimes make integer operators of those with float weights too, and not always right ones.
bool GraphPlanner::has_replaceable_weight(const OpRule& rule, const onnx::NodeProto& node) const {
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const std::string& name = node.input(slot);
    if (rule.input(slot).role == InputRole::Weight && graph_.initializer(name) &&
        graph_.is_graph_input(name))
      return true;
  }
  return false;
}

/// Why a node gets no pairs beside those that the model brings, or nothing. Where a model brings
/// some, its maker chose what they stand on: others only join them when they are asked for.
std::string GraphPlanner::obstacle_of_pairs(int index) const {
  if (!pairs_) return "";
  if (pairs_->hold(index)) return "is quantized already";
  return quantizes_unread_ ? "" : "the model brings pairs of its own, which leave it out";
}

void GraphPlanner::leave_float_weights() {
  if (!context_.corrections) return;
  const std::set<std::string>& float_weights = context_.corrections->float_weights;
  for (int index = 0; index < graph_.node_count(); ++index) {
    const auto& node = graph_.node(index);
    SelectedNode& selected = selected_[static_cast<std::size_t>(index)];
    if (!selected.rule || is_asked_for(node)) continue;
    for (int slot = 0; slot < node.input_size(); ++slot) {
      if (selected.rule->input(slot).role == InputRole::Weight &&
          float_weights.contains(node.input(slot))) {
        selected = {&float_layer_rule(), "one scale is too coarse for its weight"};
        break;
      }
    }
  }
}

/// Whether an override speaks of a value of the node.
bool GraphPlanner::is_asked_for(const onnx::NodeProto& node) const {
  const auto is_overridden = [&](const std::string& name) {
    return !name.empty() && overrides_.find(name) != nullptr;
  };
  return std::ranges::any_of(node.input(), is_overridden) ||
         std::ranges::any_of(node.output(), is_overridden);
}

void GraphPlanner::plan_node(int index) {
  const auto& node = graph_.node(index);
  const SelectedNode& selected = selected_[static_cast<std::size_t>(index)];
  if (pairs_ && pairs_->hold(index)) return complete_node(index);
  if (!selected.rule || selected.rule->computes_in_float) skip(index, "", selected.reason);
  if (!selected.rule) return;
  OpRule rule = *selected.rule;
  if (rule.refine) rule = rule.refine(rule, {node, graph_, model_, opset_});
  if (const std::string obstacle = entry_obstacle(rule, node); !obstacle.empty())
    return skip(index, "", obstacle);
  if (rule.outputs == OutputParams::FoldedIntoProducer) return plan_clamp(index);
  if (rule.outputs == OutputParams::Rescaled) return plan_rescaling(index);
  plan_outputs(rule, index, plan_inputs(rule, index));
}

/// Of a node between pairs that the model brings, the weight and the bias may still be floats.
void GraphPlanner::complete_node(int index) {
  const auto& node = graph_.node(index);
  plan_.quantized_nodes.push_back(index);
  std::string reason;
  const OpRule* found = context_.filter.rule_for(node, reason);
  const auto input = pairs_->params_of(node.input(0));
  if (!found || !input) return;
  const OpRule rule =
      found->refine ? found->refine(*found, {node, graph_, model_, opset_}) : *found;
  auto weight = node.input_size() > 1 ? pairs_->params_of(node.input(1)) : std::nullopt;
  if (rule.input(1).role == InputRole::Weight && node.input_size() > 1 &&
      graph_.initializer(node.input(1))) {
    const int plan = plan_constant({index, 1}, ConstantUse::Weight, weight_sharing(rule, node, 1));
    if (plan >= 0) weight = plan_.tensors[static_cast<std::size_t>(plan)].params;
  }
  for (int slot = 2; slot < std::min<int>(node.input_size(), rule.inputs.size()); ++slot) {
    if (!is_bias(rule, node, slot) || !weight || is_draft() || node.input(slot).empty()) continue;
    if (!has_integer_biases() || !config_.extra_options.quantize_bias) continue;
    DerivedBias bias = derive_bias(model_, graph_, rule, {index, slot}, *input, *weight);
    if (!bias.obstacle.empty()) skip(index, node.input(slot), bias.obstacle);
    if (!bias.plan) continue;
    if (rule.bias_factor != 1) plan_.scaled_biases.push_back(index);
    plan_.tensors.push_back(std::move(*bias.plan));
  }
}

void GraphPlanner::plan_bodies(int index) {
  const auto& node = graph_.node(index);
  for_each_body(node, [&](int attribute, const onnx::GraphProto& body) {
    BodyPlan planned = body_plan(index, node, attribute);
    planned.plan = plan_of_body(node, body, planned.name);
    plan_.bodies.push_back(std::move(planned));
  });
}

QuantPlan GraphPlanner::plan_of_body(const onnx::NodeProto& node, const onnx::GraphProto& body,
                                     const std::string& name) {
  if (config_.quant_format == QuantFormat::QOperator)
    return float_plan(body, "lies in a body, which quant_format QOperator leaves as it is");
  if (const auto obstacle = context_.filter.obstacle_to_bodies(node); !obstacle.empty())
    return float_plan(body, obstacle);
  GraphPlanner builder(context_, body, &graph_);
  QuantPlan plan = builder.build();
  if (builder.was_never_run()) {
    if (std::ranges::count(plan.tensors, TensorPlan::Role::Constant, &TensorPlan::role) > 0)
      plan_.warnings.push_back(name + ": calibration never ran it, so its weights stay in float");
    return float_plan(body, "calibration never ran the body it lies in");
  }
  std::ranges::move(builder.measured_, std::back_inserter(measured_));
  std::ranges::move(builder.averaged(), std::back_inserter(averaged()));
  std::ranges::move(builder.peaked(), std::back_inserter(peaked_));
  std::ranges::move(plan.warnings, std::back_inserter(plan_.warnings));
  return plan;
}

/// Why the rule does not apply here, or nothing.
std::string GraphPlanner::entry_obstacle(const OpRule& rule, const onnx::NodeProto& node) const {
  if (node.input_size() == 0) return "has no input";
  const bool is_forced = config_.extra_options.force_quantize_no_input_check &&
                         rule.outputs != OutputParams::FoldedIntoProducer &&
                         rule.outputs != OutputParams::Rescaled;
  const auto is_quantized = [&](const std::string& name) { return activation_plan(name) >= 0; };
  switch (rule.entry) {
    case Entry::Always:
    case Entry::OutputRead:
      return "";
    case Entry::ConstantOrQuantizedInput:
      if (graph_.initializer(node.input(0))) return "";
      [[fallthrough]];
    case Entry::QuantizedInput:
      return is_forced || is_quantized(node.input(rule.data_slot)) ? ""
                                                                   : "its input is not quantized";
    case Entry::QuantizedInputs:
      for (int slot = 0; slot < node.input_size(); ++slot) {
        if (rule.input(slot).role == InputRole::Activation && !is_forced &&
            !is_quantized(node.input(slot))) {
          return "not all of its inputs are quantized";
        }
      }
      return "";
  }
  return "";
}

/// One that an override speaks of is stored as weights are; integer operators take int32 alone.
bool GraphPlanner::is_bias(const OpRule& rule, const onnx::NodeProto& node, int slot) const {
  if (rule.input(slot).role != InputRole::Bias) return false;
  if (slot >= node.input_size() || config_.quant_format == QuantFormat::QOperator) return true;
  const std::string& name = node.input(slot);
  return !overrides_.find(name) || !graph_.initializer(name);
}

/// The plans of the node's inputs by slot, two at least; -1: stays float.
std::vector<int> GraphPlanner::plan_inputs(const OpRule& rule, int index) {
  const auto& node = graph_.node(index);
  std::vector<int> plans(static_cast<std::size_t>(std::max(node.input_size(), 2)), -1);
  for (int slot = 0; slot < node.input_size(); ++slot) {
    if (!node.input(slot).empty() && !is_bias(rule, node, slot))
      plans[static_cast<std::size_t>(slot)] = plan_input(rule, index, slot);
  }
  if (context_.placement.adds_in_pairs) look_at_pair_sums(index, plans);
  for (int slot = 0; slot < static_cast<int>(rule.inputs.size()); ++slot) {
    if (is_bias(rule, node, slot) && has_integer_biases() && !has_blocks(plans[1]))
      biases_.look_at(rule, {index, slot}, plans, plan_);
  }
  if (std::ranges::any_of(plans, [](int plan) { return plan >= 0; }))
    plan_.quantized_nodes.push_back(index);
  return plans;
}

/// The plan of the value that a node reads at `slot`, or -1 where it stays float.
int GraphPlanner::plan_input(const OpRule& rule, int index, int slot) {
  const auto& node = graph_.node(index);
  const std::string& name = node.input(slot);
  const InputRole role = rule.input(slot).role;
  if (role == InputRole::Float || stays_added({index, slot})) return -1;
  if (!graph_.initializer(name)) return plan_activation(name, index);
  if (role == InputRole::Activation)
    return plan_constant({index, slot}, ConstantUse::Operand, given_axis(name));
  return plan_constant({index, slot}, ConstantUse::Weight, weight_sharing(rule, node, slot));
}

/// Whether a constant has one scale, or one for each column of a matrix.
bool GraphPlanner::has_column_scales(const std::string& name, int slot,
                                     const ScaleSharing& sharing) const {
  if (!sharing.axis) return true;
  const bool is_matrix = graph_.initializer(name)->dims_size() == 2;
  return slot == 1 && is_matrix && *sharing.axis == 1 && sharing.block_size == 0;
}

bool GraphPlanner::needs_integer_output(const OpRule& rule,
                                        std::span<const int> input_plans) const {
  if (!rule.floats_need_columns) return false;
  for (std::size_t slot = 0; slot < input_plans.size(); ++slot) {
    if (input_plans[slot] < 0) continue;
    const TensorPlan& plan = plan_.tensors[static_cast<std::size_t>(input_plans[slot])];
    const ScaleSharing sharing{.axis = plan.params.axis, .block_size = plan.params.block_size};
    if (plan.role == TensorPlan::Role::Constant &&
        !has_column_scales(plan.name, static_cast<int>(slot), sharing))
      return true;
  }
  return false;
}

void GraphPlanner::plan_outputs(const OpRule& rule, int index, std::span<const int> input_plans) {
  const auto& node = graph_.node(index);
  if (excludes_output(node)) return;
  const bool gives_integers = (rule.gives_integers && !context_.placement.layers_give_floats) ||
                              needs_integer_output(rule, input_plans);
  for (const std::string& name : node.output()) {
    if (name.empty()) continue;
    if (rule.outputs != OutputParams::SharedWithInput) {
      if (quantizes_unread_ || gives_integers || islands_.read.contains(name))
        plan_activation(name, index);
      continue;
    }
    const std::string& input = node.input(0);
    int provider = activation_plan(input);
    if (graph_.initializer(input)) {
      const auto found = constants_.find({input, ConstantUse::Operand, -1});
      provider = found == constants_.end() ? -1 : found->second;
    }
    if (provider >= 0) share_activation(name, provider);
  }
}

/// Takes out the plans of tensors that a folded Relu or Clip made superfluous; indices into the
/// list move along.
void GraphPlanner::drop_replaced() {
  if (replaced_.empty()) return;
  std::vector<int> moved(plan_.tensors.size(), 0);
  for (const int index : replaced_) moved[static_cast<std::size_t>(index)] = -1;
  int next = 0;
  for (int& index : moved) index = index < 0 ? -1 : next++;
  std::vector<TensorPlan> kept;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] < 0) continue;
    TensorPlan& plan = plan_.tensors[i];
    if (plan.provider >= 0) plan.provider = moved[static_cast<std::size_t>(plan.provider)];
    if (plan.source >= 0) plan.source = moved[static_cast<std::size_t>(plan.source)];
    kept.push_back(std::move(plan));
  }
  plan_.tensors = std::move(kept);
}

}  // namespace qtool
