#include "quantize/activation_params.h"
#include "quantize/clamps.h"
#include "quantize/graph_planner.h"
#include "quantize/masks.h"
#include "quantize/params.h"

namespace qtool {

int GraphPlanner::activation_plan(std::string_view name) const {
  const auto found = activations_.find(std::string(name));
  return found == activations_.end() ? -1 : found->second;
}

/// Why no Q/DQ pair can stand on a computed value; empty where one can. An untyped value is one of
/// unknown kind.
std::string GraphPlanner::activation_obstacle(const std::string& name) const {
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
std::string_view GraphPlanner::clamped_name(const std::string& name) const {
  std::string_view current = name;
  while (clamps_alone(std::string(current)))
    current = graph_.node(graph_.uses_of(current).front().node).output(0);
  return current;
}

bool GraphPlanner::is_unit_interval(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  const OpRule* rule = producer < 0 ? nullptr : selected_[static_cast<std::size_t>(producer)].rule;
  return rule && rule->outputs == OutputParams::UnitInterval;
}

std::optional<Range> GraphPlanner::range_of(const std::string& name) {
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

double GraphPlanner::headroom_of(const std::string& name) const {
  if (!context_.corrections) return 1;
  const auto found = context_.corrections->headroom.find(name);
  return found == context_.corrections->headroom.end() ? 1 : found->second;
}

/// Whether the reader's rule takes a quantized value there.
bool GraphPlanner::reads_quantized(const Use& use) const {
  const OpRule* rule = selected_[static_cast<std::size_t>(use.node)].rule;
  return rule && rule->input(use.slot).role != InputRole::Float && !stays_added(use);
}

int GraphPlanner::add_activation(const std::string& name, QuantParams params,
                                 std::string derivation) {
  TensorPlan plan{.name = name,
                  .role = TensorPlan::Role::Activation,
                  .params = std::move(params),
                  .replaces_value = quantizes_unread_ || is_made_in_integers(name),
                  .value_type = graph_.type_of(name),
                  .derivation = std::move(derivation)};
  plan.equal_scales = scales_that_hold(name);
  set_readers(plan);
  plan_.tensors.push_back(std::move(plan));
  const int at = static_cast<int>(plan_.tensors.size()) - 1;
  activations_[name] = at;
  return at;
}

/// How many scales keep ONNX Runtime from moving the quantizer of `name` before a MaxPool on
/// floats, past operators that only move values; 0 where it would not.
std::int64_t GraphPlanner::scales_that_hold(const std::string& name) const {
  constexpr std::int64_t kFirstWithAxis = 13, kLastMoved = 21;
  static const std::set<std::string_view> passed = {"Reshape", "Slice", "Squeeze", "Transpose",
                                                    "Unsqueeze"};
  if (!context_.placement.holds_quantizers || quantizes_unread_ || opset_ < kFirstWithAxis ||
      opset_ > kLastMoved)
    return 0;
  const auto shape = graph_.shape_of(name);
  if (!shape || shape->size() < 2 || (*shape)[1] < 2) return 0;
  for (std::string value = name; !islands_.made.contains(value);) {
    const int producer = graph_.producer_of(value);
    if (producer < 0) return 0;
    const auto& node = graph_.node(producer);
    if (node.op_type() == "MaxPool") return (*shape)[1];
    if (!passed.contains(node.op_type())) return 0;
    value = node.input(0);
  }
  return 0;
}

bool GraphPlanner::is_made_in_integers(const std::string& name) const {
  return islands_.made.contains(name);
}

/// Who reads the dequantized value, and who its conversion.
void GraphPlanner::set_readers(TensorPlan& plan) const {
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

int GraphPlanner::plan_activation(const std::string& name, int index) {
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
  const double headroom = headroom_of(name);
  if (headroom > 1) {
    params = with_headroom(params, headroom);
  } else if (const auto offset = offset_behind(name)) {
    if (auto moved = with_whole_offset(params, *range, *offset)) params = std::move(*moved);
  }
  const int added =
      add_activation(name, std::move(params), is_unit_interval(name) ? "[0,1]" : "measured");
  plan_.tensors.back().headroom = headroom;
  if (auto& conversion = plan_.tensors.back().conversion)
    conversion->params = conversion_params(*range, config_, *override->convert, type);
  return added;
}

void GraphPlanner::share_activation(const std::string& name, int provider) {
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

void GraphPlanner::plan_rescaling(int index) {
  const auto& node = graph_.node(index);
  if (absorb(index, *rescaling_at(context_of(index)))) return;
  const OpRule rule = *find_rule(context_.placement, node.op_type(), node.domain());
  if ((rule.integer_on & context_.placement.runtime) == 0)
    return skip(index, "", "there is no integer kernel for it");
  plan_outputs(rule, index, plan_inputs(rule, index));
}

/// Lets the output's readers read the input's integers. Of a draft it is not known whether an
/// offset can be absorbed: then the output is measured too.
bool GraphPlanner::absorb(int index, const Rescaling& rescaling) {
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
std::optional<double> GraphPlanner::offset_behind(const std::string& name) const {
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
bool GraphPlanner::is_seen_quantized(const TensorPlan& plan) const {
  const bool is_seen_outside = graph_.is_graph_output(plan.name) || graph_.is_captured(plan.name);
  const std::size_t converted = plan.conversion ? plan.conversion->uses.size() : 0;
  return (plan.replaces_value || !is_seen_outside) &&
         plan.uses.size() + converted == graph_.uses_of(plan.name).size();
}

/// Whether an obstacle keeps `name` in float; it is listed then.
bool GraphPlanner::refuses(int index, const std::string& name, const std::string& obstacle) {
  if (obstacle.empty()) return false;
  skip(index, name, obstacle);
  refused_.insert(name);
  return true;
}

/// Whether a Relu or Clip that takes part makes `name`.
bool GraphPlanner::is_clamped(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  const OpRule* rule = producer < 0 ? nullptr : selected_[static_cast<std::size_t>(producer)].rule;
  return rule && rule->outputs == OutputParams::FoldedIntoProducer;
}

/// Whether a Relu or Clip that takes part is the one and only reader of `input`.
bool GraphPlanner::clamps_alone(const std::string& input) const {
  const auto uses = graph_.uses_of(input);
  if (uses.size() != 1 || uses.front().slot != 0 || graph_.is_graph_output(input) ||
      graph_.is_captured(input))
    return false;
  const OpRule* rule = selected_[static_cast<std::size_t>(uses.front().node)].rule;
  return rule && rule->outputs == OutputParams::FoldedIntoProducer;
}

void GraphPlanner::plan_clamp(int index) {
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

}  // namespace qtool
