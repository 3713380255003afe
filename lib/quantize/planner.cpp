#include "quantize/planner.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "quantize/concat_scales.h"
#include "quantize/lower_qdq.h"
#include "quantize/lower_qoperator.h"
#include "quantize/node_forms.h"
#include "quantize/onnxruntime/qoperator_plan.h"
#include "quantize/weight_noise.h"

namespace qtool {
namespace {

/// For formats and presets that leave them as they are.
void warn_of_bodies(const Model& model, const QuantizationConfig& config, QuantPlan& plan) {
  if (config.extra_options.enable_subgraph && has_subgraphs(model.graph()))
    plan.warnings.emplace_back(
        "EnableSubgraph: what lies in subgraphs stays in float nevertheless");
}

void add_warning(std::string warning, QuantPlan& plan) {
  if (!warning.empty()) plan.warnings.push_back(std::move(warning));
}

/// Where `plan` would spoil weights it becomes the one that leaves their layers in float. Returns
/// what there is to say of it.
std::string spare_noisy_weights(const Model& model, const Placement& placement,
                                const std::function<QuantPlan(const PlanCorrections&)>& build,
                                PlanCorrections& corrections, QuantPlan& plan) {
  const std::vector<NoisyWeight> noisy = noisy_weights(model, plan, placement);
  if (!placement.spares_noisy_weights || noisy.empty()) return warning_of(noisy);
  for (const NoisyWeight& weight : noisy) corrections.float_weights.insert(weight.name);
  plan = build(corrections);
  const std::vector<NoisyWeight> left = noisy_weights(model, plan, placement);
  if (left.size() == noisy.size()) return warning_of(noisy);
  return warning_of(noisy) + "; till then their layers stay in float";
}

}  // namespace

Planner::Planner(const QuantizationConfig& config, Preset preset)
    : config_(config), preset_(preset), placement_(placement_for(preset)) {
  if (has_forms()) placement_ = with_integer_forms(placement_);
}

Measurements Planner::measurements(const Model& model) const {
  if (walks_as_onnxruntime()) return {tensors_measured_by_qoperator(model, config_), {}, {}};
  return qtool::measurements(model, config_, placement_);
}

QuantPlan Planner::draft(const Model& model) const {
  if (walks_as_onnxruntime()) return plan_qoperator_as_onnxruntime(model, nullptr, config_);
  QuantPlan plan = corrected_plan(model, nullptr, [&](const PlanCorrections& corrections) {
    return draft_plan(model, config_, placement_, corrections);
  });
  if (has_forms()) add_node_forms(model, plan);
  return plan;
}

QuantPlan Planner::plan(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                        const ChannelPeaks& peaks) const {
  QuantPlan plan;
  if (walks_as_onnxruntime()) {
    plan = plan_qoperator_as_onnxruntime(model, &ranges, config_);
    if (!config_.per_channel) add_warning(warning_of(noisy_weights(model, plan, placement_)), plan);
  } else {
    const ChannelStatistics channels{means, peaks};
    plan = corrected_plan(model, &channels, [&](const PlanCorrections& corrections) {
      return build_plan(model, ranges, means, config_, placement_, corrections, peaks);
    });
    if (has_forms()) add_node_forms(model, plan);
  }
  if (has_forms() || placement_.follows_onnxruntime) warn_of_bodies(model, config_, plan);
  return plan;
}

/// What `build` makes with the corrections that its first plan shows to be needed. A draft has no
/// `channels`.
QuantPlan Planner::corrected_plan(
    const Model& model, const ChannelStatistics* channels,
    const std::function<QuantPlan(const PlanCorrections&)>& build) const {
  PlanCorrections corrections;
  QuantPlan plan = build(corrections);
  std::string warning;
  if (!config_.per_channel)
    warning = spare_noisy_weights(model, placement_, build, corrections, plan);
  if (channels && placement_.adds_in_pairs) {
    corrections.headroom = headroom_for_pair_sums(model, plan, *channels, config_);
    if (!corrections.headroom.empty()) plan = build(corrections);
  }
  add_warning(std::move(warning), plan);
  return plan;
}

Model Planner::lower(Model model, const QuantPlan& plan) const {
  if (has_forms()) return lower_to_qoperator(std::move(model), plan);
  Model lowered = lower_to_qdq(std::move(model), plan);
  give_concats_float32_scales(lowered);
  return lowered;
}

}  // namespace qtool
