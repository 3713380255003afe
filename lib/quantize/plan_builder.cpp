#include "quantize/plan_builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "quantize/activation_params.h"
#include "quantize/bias_correction.h"
#include "quantize/bias_planner.h"
#include "quantize/bias_requests.h"
#include "quantize/bodies.h"
#include "quantize/channel_input.h"
#include "quantize/clamps.h"
#include "quantize/constants.h"
#include "quantize/derived_bias.h"
#include "quantize/existing_pairs.h"
#include "quantize/islands.h"
#include "quantize/masks.h"
#include "quantize/needed_opset.h"
#include "quantize/node_filter.h"
#include "quantize/onnxruntime/qdq_planner.h"
#include "quantize/pair_sums.h"
#include "quantize/params.h"
#include "quantize/rescaling.h"
#include "quantize/schemes.h"
#include "quantize/size_nodes.h"
#include "quantize/tensor_overrides.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;

/// What all graphs of a model are planned by.
struct PlanContext {
  const Model& model;
  const TensorRanges* ranges;  ///< null for a draft
  const ChannelMeans* means;   ///< null for a draft
  const QuantizationConfig& config;
  const Placement& placement;
  NodeFilter filter;
  bool corrects_biases;
  bool carries_pairs;  ///< the model was quantized before, at least in parts
  const std::set<std::string>* float_weights = nullptr;
  const ChannelPeaks* peaks = nullptr;
};

/// Builds a plan in one walk over the nodes of a graph, and those of the bodies in it. Without
/// ranges it drafts: every tensor counts as measurable, and `measured()` tells which were asked
/// for.
class PlanBuilder {
 public:
  PlanBuilder(const PlanContext& context, const onnx::GraphProto& graph,
              const GraphView* outer = nullptr)
      : context_(context),
        model_(context.model),
        ranges_(context.ranges),
        config_(context.config),
        graph_(graph, outer),
        overrides_(config_.extra_options),
        opset_(model_.opset()),
        biases_(model_, graph_, context.corrects_biases, context.means),
        quantizes_unread_(context.placement.takes_everything ||
                          !config_.op_types_to_quantize.empty() ||
                          !config_.nodes_to_quantize.empty()) {
    if (context_.carries_pairs) pairs_.emplace(model_, graph_);
    select_rules();
    if (quantizes_unread_) return;
    leave_slow_nodes(
        model_, graph_, context.placement,
        [this](const onnx::NodeProto& node) { return is_asked_for(node); }, selected_);
    leave_float_weights();
    islands_ = settle_islands(graph_, context.placement, selected_);
  }

  QuantPlan build() {
    for (int index = 0; index < graph_.node_count(); ++index) {
      plan_node(index);
      plan_bodies(index);
    }
    if (!biases_.requests().empty()) {
      plan_biases(model_, graph_, biases_.requests(), zero_channels_, config_.extra_options, plan_);
    }
    drop_replaced();
    plan_.qdq_domain = qdq_domain(plan_, config_, opset_);
    return std::move(plan_);
  }

  std::vector<std::string>& measured() { return measured_; }
  std::vector<AveragedTensor>& averaged() { return biases_.averaged(); }
  std::vector<AveragedTensor>& peaked() { return peaked_; }
  /// Whether the graph has values to measure and none of them was ever seen.
  bool was_never_run() const { return has_unseen_ && !has_seen_; }

 private:
  // Which nodes take part.
  void select_rules();
  bool has_replaceable_weight(const OpRule& rule, const onnx::NodeProto& node) const;
  std::string obstacle_of_pairs(int index) const;
  bool is_asked_for(const onnx::NodeProto& node) const;
  void leave_float_weights();
  void plan_node(int index);
  void complete_node(int index);
  std::string entry_obstacle(const OpRule& rule, const onnx::NodeProto& node) const;
  bool is_bias(const OpRule& rule, const onnx::NodeProto& node, int slot) const;
  std::vector<int> plan_inputs(const OpRule& rule, int index);
  int plan_input(const OpRule& rule, int index, int slot);
  void look_at_pair_sums(int index, std::span<const int> input_plans);
  void plan_outputs(const OpRule& rule, int index, std::span<const int> input_plans);
  bool has_column_scales(const std::string& name, int slot, const ScaleSharing& sharing) const;
  bool needs_integer_output(const OpRule& rule, std::span<const int> input_plans) const;

  // Bodies.
  void plan_bodies(int index);
  QuantPlan plan_of_body(const onnx::NodeProto& node, const onnx::GraphProto& body,
                         const std::string& name);

  // Activations.
  bool reads_quantized(const Use& use) const;
  bool stays_added(Use use) const {
    return context_.placement.adds_to_layers && is_added_to_layer(graph_, selected_, use);
  }
  int activation_plan(std::string_view name) const;
  int plan_activation(const std::string& name, int index);
  void share_activation(const std::string& name, int provider);
  int add_activation(const std::string& name, QuantParams params, std::string derivation);
  bool is_made_in_integers(const std::string& name) const;
  void set_readers(TensorPlan& plan) const;
  std::string activation_obstacle(const std::string& name) const;
  std::string_view clamped_name(const std::string& name) const;
  bool is_unit_interval(const std::string& name) const;
  std::optional<Range> range_of(const std::string& name);

  // What only rescales.
  NodeContext context_of(int index) const { return {graph_.node(index), graph_, model_, opset_}; }
  void plan_rescaling(int index);
  bool absorb(int index, const Rescaling& rescaling);
  std::optional<double> offset_behind(const std::string& name) const;

  // Relu and Clip.
  void plan_clamp(int index);
  bool is_clamped(const std::string& name) const;
  bool is_seen_quantized(const TensorPlan& plan) const;
  bool refuses(int index, const std::string& name, const std::string& obstacle);
  bool clamps_alone(const std::string& input) const;

  // Constants and biases.
  int plan_constant(Use use, ConstantUse as, const ScaleSharing& sharing);
  ScaleSharing given_axis(const std::string& name) const;
  ScaleSharing weight_sharing(const OpRule& rule, const onnx::NodeProto& node, int slot) const;
  bool can_quantize_output(const onnx::NodeProto& node) const;

  bool excludes_output(const onnx::NodeProto& node) const {
    return std::ranges::find(config_.extra_options.op_types_to_exclude_output_quantization,
                             node.op_type()) !=
           config_.extra_options.op_types_to_exclude_output_quantization.end();
  }
  bool is_draft() const { return ranges_ == nullptr; }
  /// Biases are int32, by the product of two scales; beside float8 they stay as they are.
  bool has_integer_biases() const { return !is_float8(element_type(config_.weight_type)); }
  bool has_blocks(int plan) const {
    return plan >= 0 && plan_.tensors[static_cast<std::size_t>(plan)].params.block_size > 0;
  }
  void skip(int index, const std::string& tensor, const std::string& reason) {
    const auto& node = graph_.node(index);
    plan_.skipped.push_back({index, node.name(), node.op_type(), tensor, reason});
  }
  void drop_replaced();

  const PlanContext& context_;
  const Model& model_;
  const TensorRanges* ranges_;
  const QuantizationConfig& config_;
  GraphView graph_;
  TensorOverrides overrides_;
  std::int64_t opset_;
  BiasRequests biases_;
  std::optional<ExistingPairs> pairs_;  ///< where the model carries some
  bool quantizes_unread_;
  std::vector<SelectedNode> selected_;
  Islands islands_;
  QuantPlan plan_;
  std::unordered_map<std::string, int> activations_;
  std::map<std::tuple<std::string, ConstantUse, std::int64_t>, int> constants_;
  ZeroChannels zero_channels_;
  std::vector<int> replaced_;
  std::unordered_set<std::string> refused_;
  std::vector<std::string> measured_;
  std::vector<AveragedTensor> peaked_;
  bool has_seen_ = false, has_unseen_ = false;  ///< of the graph's own values
};

void PlanBuilder::select_rules() {
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
bool PlanBuilder::has_replaceable_weight(const OpRule& rule, const onnx::NodeProto& node) const {
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
std::string PlanBuilder::obstacle_of_pairs(int index) const {
  if (!pairs_) return "";
  if (pairs_->hold(index)) return "is quantized already";
  return quantizes_unread_ ? "" : "the model brings pairs of its own, which leave it out";
}

void PlanBuilder::leave_float_weights() {
  if (!context_.float_weights) return;
  for (int index = 0; index < graph_.node_count(); ++index) {
    const auto& node = graph_.node(index);
    SelectedNode& selected = selected_[static_cast<std::size_t>(index)];
    if (!selected.rule || is_asked_for(node)) continue;
    for (int slot = 0; slot < node.input_size(); ++slot) {
      if (selected.rule->input(slot).role == InputRole::Weight &&
          context_.float_weights->contains(node.input(slot))) {
        selected = {&float_layer_rule(), "one scale is too coarse for its weight"};
        break;
      }
    }
  }
}

/// Whether an override speaks of a value of the node.
bool PlanBuilder::is_asked_for(const onnx::NodeProto& node) const {
  const auto is_overridden = [&](const std::string& name) {
    return !name.empty() && overrides_.find(name) != nullptr;
  };
  return std::ranges::any_of(node.input(), is_overridden) ||
         std::ranges::any_of(node.output(), is_overridden);
}

void PlanBuilder::plan_node(int index) {
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
void PlanBuilder::complete_node(int index) {
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

void PlanBuilder::plan_bodies(int index) {
  const auto& node = graph_.node(index);
  for_each_body(node, [&](int attribute, const onnx::GraphProto& body) {
    BodyPlan planned = body_plan(index, node, attribute);
    planned.plan = plan_of_body(node, body, planned.name);
    plan_.bodies.push_back(std::move(planned));
  });
}

QuantPlan PlanBuilder::plan_of_body(const onnx::NodeProto& node, const onnx::GraphProto& body,
                                    const std::string& name) {
  if (config_.quant_format == QuantFormat::QOperator)
    return float_plan(body, "lies in a body, which quant_format QOperator leaves as it is");
  if (const auto obstacle = context_.filter.obstacle_to_bodies(node); !obstacle.empty())
    return float_plan(body, obstacle);
  PlanBuilder builder(context_, body, &graph_);
  QuantPlan plan = builder.build();
  if (builder.was_never_run()) {
    if (std::ranges::count(plan.tensors, Role::Constant, &TensorPlan::role) > 0)
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
std::string PlanBuilder::entry_obstacle(const OpRule& rule, const onnx::NodeProto& node) const {
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
bool PlanBuilder::is_bias(const OpRule& rule, const onnx::NodeProto& node, int slot) const {
  if (rule.input(slot).role != InputRole::Bias) return false;
  if (slot >= node.input_size() || config_.quant_format == QuantFormat::QOperator) return true;
  const std::string& name = node.input(slot);
  return !overrides_.find(name) || !graph_.initializer(name);
}

/// The plans of the node's inputs by slot, two at least; -1: stays float.
std::vector<int> PlanBuilder::plan_inputs(const OpRule& rule, int index) {
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

/// Gives weights that 16 bits could not add up another bit of room. Of a draft it notes whose
/// peaks help to tell; scales that a user gives stay.
void PlanBuilder::look_at_pair_sums(int index, std::span<const int> input_plans) {
  const auto& node = graph_.node(index);
  if (input_plans[0] < 0 || input_plans[1] < 0) return;
  TensorPlan& weight = plan_.tensors[static_cast<std::size_t>(input_plans[1])];
  const TensorPlan& input = plan_.tensors[static_cast<std::size_t>(input_plans[0])];
  if (weight.role != Role::Constant || input.role != Role::Activation) return;
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

/// The plan of the value that a node reads at `slot`, or -1 where it stays float.
int PlanBuilder::plan_input(const OpRule& rule, int index, int slot) {
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
bool PlanBuilder::has_column_scales(const std::string& name, int slot,
                                    const ScaleSharing& sharing) const {
  if (!sharing.axis) return true;
  const bool is_matrix = graph_.initializer(name)->dims_size() == 2;
  return slot == 1 && is_matrix && *sharing.axis == 1 && sharing.block_size == 0;
}

bool PlanBuilder::needs_integer_output(const OpRule& rule, std::span<const int> input_plans) const {
  if (!rule.floats_need_columns) return false;
  for (std::size_t slot = 0; slot < input_plans.size(); ++slot) {
    if (input_plans[slot] < 0) continue;
    const TensorPlan& plan = plan_.tensors[static_cast<std::size_t>(input_plans[slot])];
    const ScaleSharing sharing{.axis = plan.params.axis, .block_size = plan.params.block_size};
    if (plan.role == Role::Constant &&
        !has_column_scales(plan.name, static_cast<int>(slot), sharing))
      return true;
  }
  return false;
}

void PlanBuilder::plan_outputs(const OpRule& rule, int index, std::span<const int> input_plans) {
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

int PlanBuilder::activation_plan(std::string_view name) const {
  const auto found = activations_.find(std::string(name));
  return found == activations_.end() ? -1 : found->second;
}

/// Why no Q/DQ pair can stand on a computed value; empty where one can. An untyped value is one of
/// unknown kind.
std::string PlanBuilder::activation_obstacle(const std::string& name) const {
  const ElementType type = graph_.type_of(name);
  if (type == ElementType::Undefined) return "its type is not known";
  if (type != ElementType::Float && type != ElementType::Float16) return element_type_name(type);
  const GraphView* owner = graph_.owner_of(name);
  const int producer = owner ? owner->producer_of(name) : -1;
  if (producer >= 0 && owner->node(producer).op_type() == "DequantizeLinear")
    return "is quantized already";
  const auto uses = graph_.uses_of(name);
  const auto reads_as_integers = [&](const Use& use) {
    return graph_.node(use.node).op_type() == "QuantizeLinear";
  };
  if (!uses.empty() && std::ranges::all_of(uses, reads_as_integers)) return "is quantized already";
  return "";
}

/// The tensor whose range `name` takes: where a Relu or Clip alone reads it, only what passes that
/// matters.
std::string_view PlanBuilder::clamped_name(const std::string& name) const {
  std::string_view current = name;
  while (clamps_alone(std::string(current)))
    current = graph_.node(graph_.uses_of(current).front().node).output(0);
  return current;
}

bool PlanBuilder::is_unit_interval(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  const OpRule* rule = producer < 0 ? nullptr : selected_[static_cast<std::size_t>(producer)].rule;
  return rule && rule->outputs == OutputParams::UnitInterval;
}

std::optional<Range> PlanBuilder::range_of(const std::string& name) {
  if (is_unit_interval(name)) return Range{0, 1};
  const std::string measured(clamped_name(name));
  if (is_draft()) {
    measured_.push_back(measured);
    return Range{0, 1};
  }
  const auto found = ranges_->find(measured);
  if (graph_.defines(measured)) (found == ranges_->end() ? has_unseen_ : has_seen_) = true;
  return found == ranges_->end() ? std::nullopt : std::optional(found->second);
}

/// Whether the reader's rule takes a quantized value there.
bool PlanBuilder::reads_quantized(const Use& use) const {
  const OpRule* rule = selected_[static_cast<std::size_t>(use.node)].rule;
  return rule && rule->input(use.slot).role != InputRole::Float && !stays_added(use);
}

int PlanBuilder::add_activation(const std::string& name, QuantParams params,
                                std::string derivation) {
  TensorPlan plan{.name = name,
                  .role = Role::Activation,
                  .params = std::move(params),
                  .replaces_value = quantizes_unread_ || is_made_in_integers(name),
                  .value_type = graph_.type_of(name),
                  .derivation = std::move(derivation)};
  set_readers(plan);
  plan_.tensors.push_back(std::move(plan));
  const int at = static_cast<int>(plan_.tensors.size()) - 1;
  activations_[name] = at;
  return at;
}

bool PlanBuilder::is_made_in_integers(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  const OpRule* rule = producer < 0 ? nullptr : selected_[static_cast<std::size_t>(producer)].rule;
  return islands_.made.contains(name) && !(rule && rule->computes_in_float);
}

/// Who reads the dequantized value, and who its conversion.
void PlanBuilder::set_readers(TensorPlan& plan) const {
  const TensorOverride* override = overrides_.find(plan.name);
  const bool converts = override && override->convert;
  if (converts) plan.conversion.emplace();
  for (const Use& use : graph_.uses_of(plan.name)) {
    const auto& reader = graph_.node(use.node);
    if (plan.replaces_value ? reader.op_type() == "QuantizeLinear" : !reads_quantized(use))
      continue;
    (converts && receives_conversion(*override->convert, reader) ? plan.conversion->uses
                                                                 : plan.uses)
        .push_back(use);
  }
  if (converts) {
    plan.conversion->replaces_value = plan.uses.empty();
    return;
  }
  const auto is_other = [&](const Use& use) { return use.node != plan.uses.front().node; };
  if (!config_.extra_options.dedicated_qdq_pair || std::ranges::none_of(plan.uses, is_other))
    return;
  plan.has_pair_per_reader = true;
  plan.replaces_value = false;
}

int PlanBuilder::plan_activation(const std::string& name, int index) {
  if (const int known = activation_plan(name); known >= 0) return known;
  if (refused_.contains(name)) return -1;
  if (const std::string obstacle = activation_obstacle(name); !obstacle.empty()) {
    // Integers, booleans and the like are no loss; silence keeps the report readable.
    if (graph_.type_of(name) == ElementType::Undefined ||
        graph_.type_of(name) == ElementType::Float16) {
      skip(index, name, obstacle);
    }
    return -1;
  }
  const std::optional<Range> range = range_of(name);
  if (!range) {
    skip(index, name, "has no range: calibration found no value in it, or one that is not finite");
    return -1;
  }
  const TensorOverride* override = overrides_.find(name);
  const ElementType type = graph_.type_of(name);
  const ElementType stored = activation_scheme(config_, override, type).type;
  if (refuses(index, name, obstacle_by_readers(graph_, name, stored))) return -1;
  // Of a Relu or Clip that may yet be folded it is known later.
  if (!is_clamped(name) && refuses(index, name, obstacle_by_maker(graph_, name, stored))) return -1;
  QuantParams params = activation_params(*range, config_, override, type);
  if (refuses(index, name, obstacle_by_mask(*range, params))) return -1;
  if (const auto offset = offset_behind(name)) {
    if (auto moved = with_whole_offset(params, *range, *offset)) params = std::move(*moved);
  }
  const int added =
      add_activation(name, std::move(params), is_unit_interval(name) ? "[0,1]" : "measured");
  if (auto& conversion = plan_.tensors.back().conversion)
    conversion->params = conversion_params(*range, config_, *override->convert, type);
  return added;
}

void PlanBuilder::share_activation(const std::string& name, int provider) {
  if (!activation_obstacle(name).empty()) return;
  const TensorPlan& source = plan_.tensors[static_cast<std::size_t>(provider)];
  // What a user says of the tensor wins over what its maker would have it share.
  if (overrides_.find(name) || source.conversion || source.params.axis) {
    plan_activation(name, graph_.producer_of(name));
    return;
  }
  const int root = source.provider >= 0 ? source.provider : provider;
  const std::string derivation = "as " + plan_.tensors[static_cast<std::size_t>(root)].name;
  const int added = add_activation(name, source.params, derivation);
  plan_.tensors[static_cast<std::size_t>(added)].provider = root;
}

void PlanBuilder::plan_rescaling(int index) {
  const auto& node = graph_.node(index);
  if (absorb(index, *rescaling_at(context_of(index)))) return;
  const OpRule rule = *find_rule(context_.placement, node.op_type(), node.domain());
  if ((rule.integer_on & context_.placement.runtime) == 0)
    return skip(index, "", "there is no integer kernel for it");
  plan_outputs(rule, index, plan_inputs(rule, index));
}

/// Lets the output's readers read the input's integers. Of a draft it is not known whether an
/// offset can be absorbed: then the output is measured too.
bool PlanBuilder::absorb(int index, const Rescaling& rescaling) {
  const auto& node = graph_.node(index);
  const int read = activation_plan(node.input(rescaling.slot));
  const TensorPlan& input = plan_.tensors[static_cast<std::size_t>(read)];
  const bool has_pair = !input.conversion && !input.has_pair_per_reader;
  if (!has_pair || excludes_output(node) || !activation_obstacle(node.output(0)).empty())
    return false;
  if (is_draft() && rescaling.offset != 0) range_of(node.output(0));
  const auto params = is_draft() ? input.params : rescaled(input.params, rescaling);
  if (!params) return false;
  const int source = input.source >= 0 ? input.source : read;
  const int added = add_activation(node.output(0), *params, "as " + input.name + ", rescaled");
  plan_.tensors[static_cast<std::size_t>(added)].source = source;
  std::erase_if(plan_.tensors[static_cast<std::size_t>(read)].uses,
                [&](const Use& use) { return use.node == index; });
  plan_.absorbed.push_back(index);
  return true;
}

/// What is added to `name` before anything but factors is done to it, in its own units.
std::optional<double> PlanBuilder::offset_behind(const std::string& name) const {
  if (is_draft() || is_clamped(name) || overrides_.find(name) ||
      config_.extra_options.activation_symmetric.value_or(false))
    return std::nullopt;
  for (const Use& use : graph_.uses_of(name)) {
    const OpRule* rule = selected_[static_cast<std::size_t>(use.node)].rule;
    if (!rule || rule->outputs != OutputParams::Rescaled) continue;
    const Rescaling found = *rescaling_at(context_of(use.node));
    if (found.offset != 0) return found.offset;
    if (const auto behind = offset_behind(graph_.node(use.node).output(0)))
      return *behind / found.factor;
  }
  return std::nullopt;
}

/// Whether everyone who reads the tensor gets it from its quantizer.
bool PlanBuilder::is_seen_quantized(const TensorPlan& plan) const {
  const bool is_seen_outside = graph_.is_graph_output(plan.name) || graph_.is_captured(plan.name);
  const std::size_t converted = plan.conversion ? plan.conversion->uses.size() : 0;
  return (plan.replaces_value || !is_seen_outside) &&
         plan.uses.size() + converted == graph_.uses_of(plan.name).size();
}

/// Whether an obstacle keeps `name` in float; it is listed then.
bool PlanBuilder::refuses(int index, const std::string& name, const std::string& obstacle) {
  if (obstacle.empty()) return false;
  skip(index, name, obstacle);
  refused_.insert(name);
  return true;
}

/// Whether a Relu or Clip that takes part makes `name`.
bool PlanBuilder::is_clamped(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  const OpRule* rule = producer < 0 ? nullptr : selected_[static_cast<std::size_t>(producer)].rule;
  return rule && rule->outputs == OutputParams::FoldedIntoProducer;
}

/// Whether a Relu or Clip that takes part is the one and only reader of `input`.
bool PlanBuilder::clamps_alone(const std::string& input) const {
  const auto uses = graph_.uses_of(input);
  if (uses.size() != 1 || uses.front().slot != 0 || graph_.is_graph_output(input) ||
      graph_.is_captured(input))
    return false;
  const OpRule* rule = selected_[static_cast<std::size_t>(uses.front().node)].rule;
  return rule && rule->outputs == OutputParams::FoldedIntoProducer;
}

void PlanBuilder::plan_clamp(int index) {
  const auto& node = graph_.node(index);
  const std::string& input = node.input(0);
  plan_.quantized_nodes.push_back(index);
  if (excludes_output(node)) return;
  const int output_plan = plan_activation(node.output(0), index);
  const bool can_fold = output_plan >= 0 && clamps_alone(input) && graph_.producer_of(input) >= 0 &&
                        !config_.extra_options.qdq_keep_removable_activations;
  if (output_plan < 0 || is_draft()) return;
  const TensorPlan& plan = plan_.tensors[static_cast<std::size_t>(output_plan)];
  const QuantParams& params = plan.params;
  if (!can_fold || !is_seen_quantized(plan) || is_float8(params.type) ||
      !quantizer_clamps({node, graph_, model_, opset_}, params)) {
    const std::string obstacle = obstacle_by_maker(graph_, node.output(0), params.type);
    if (!refuses(index, node.output(0), obstacle)) return;
    replaced_.push_back(output_plan);
    activations_.erase(node.output(0));
    return;
  }
  plan_.folded.push_back({index, input, node.output(0)});
  replaced_.push_back(activation_plan(input));
  activations_.erase(input);
}

bool PlanBuilder::can_quantize_output(const onnx::NodeProto& node) const {
  const std::string& name = node.output(0);
  return !excludes_output(node) && activation_obstacle(name).empty() &&
         (is_draft() || ranges_->contains(std::string(clamped_name(name))));
}

/// The axis that the user gives the channels of a constant.
ScaleSharing PlanBuilder::given_axis(const std::string& name) const {
  const TensorOverride* override = overrides_.find(name);
  if (!override || !override->axis) return {};
  const auto rank = static_cast<std::size_t>(graph_.initializer(name)->dims_size());
  return {.axis = normalized_axis(*override->axis, rank)};
}

/// Which values of a weight share a scale. Blocks run along the axis that is summed over, which of
/// the two last ones is the one that does not count channels.
ScaleSharing PlanBuilder::weight_sharing(const OpRule& rule, const onnx::NodeProto& node,
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

int PlanBuilder::plan_constant(Use use, ConstantUse as, const ScaleSharing& sharing) {
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
    auto params = constant_params(model_.tensor(tensor), sharing, scheme,
                                  given_params(overrides_.channels(name)));
    if (!params) {
      skip(use.node, name, "holds NaN or infinity");
      plan_.warnings.push_back(fmt::format("'{}' holds NaN or infinity and stays in float", name));
      return -1;
    }
    found = std::move(*params);
    const std::string obstacle =
        as == ConstantUse::Operand
            ? obstacle_by_mask(to_float32(model_.tensor(tensor)), found.params)
            : "";
    if (!obstacle.empty()) {
      skip(use.node, name, obstacle);
      return -1;
    }
  }
  plan_.tensors.push_back({.name = name,
                           .role = Role::Constant,
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

/// Takes out the plans of tensors that a folded Relu or Clip made superfluous; indices into the
/// list move along.
void PlanBuilder::drop_replaced() {
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

QuantPlan plan_with(const PlanContext& context) {
  return PlanBuilder(context, context.model.graph()).build();
}

PlanContext draft_context(const Model& model, const QuantizationConfig& config,
                          const Placement& placement) {
  return {
      .model = model,
      .ranges = nullptr,
      .means = nullptr,
      .config = config,
      .placement = placement,
      .filter = NodeFilter(model.graph(), config, placement),
      .corrects_biases = config.extra_options.quantize_bias && corrects_biases(config, placement),
      .carries_pairs = carries_pairs(model)};
}

}  // namespace

Measurements measurements(const Model& model, const QuantizationConfig& config,
                          const Placement& placement) {
  if (placement.follows_onnxruntime)
    return {tensors_measured_by_onnxruntime(model, config), {}, {}};
  const PlanContext context = draft_context(model, config, placement);
  PlanBuilder builder(context, model.graph());
  builder.build();
  Measurements out;
  std::unordered_set<std::string> seen;
  for (std::string& name : builder.measured()) {
    if (seen.insert(name).second) out.tensors.push_back(std::move(name));
  }
  out.averaged = std::move(builder.averaged());
  out.peaked = std::move(builder.peaked());
  return out;
}

QuantPlan draft_plan(const Model& model, const QuantizationConfig& config,
                     const Placement& placement) {
  if (placement.follows_onnxruntime) return plan_qdq_as_onnxruntime(model, nullptr, config);
  return plan_with(draft_context(model, config, placement));
}

QuantPlan build_plan(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                     const QuantizationConfig& config, const Placement& placement,
                     const std::set<std::string>& float_weights, const ChannelPeaks& peaks) {
  if (placement.follows_onnxruntime) return plan_qdq_as_onnxruntime(model, &ranges, config);
  PlanContext context = draft_context(model, config, placement);
  context.ranges = &ranges;
  context.means = &means;
  context.float_weights = &float_weights;
  context.peaks = &peaks;
  return plan_with(context);
}

}  // namespace qtool
