#include "quantize/planner.h"

#include <set>
#include <string>
#include <utility>

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

void warn_of_noise(const std::vector<NoisyWeight>& noisy, QuantPlan& plan) {
  if (!noisy.empty()) plan.warnings.push_back(warning_of(noisy));
}

/// The plan, and where it would spoil weights, another that leaves those in float.
QuantPlan plan_for(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                   const ChannelPeaks& peaks, const QuantizationConfig& config,
                   const Placement& placement) {
  QuantPlan plan = build_plan(model, ranges, means, config, placement, {}, peaks);
  if (config.per_channel) return plan;
  auto noisy = noisy_weights(model, plan, placement);
  if (placement.spares_noisy_weights && !noisy.empty()) {
    std::set<std::string> spared;
    for (const NoisyWeight& weight : noisy) spared.insert(weight.name);
    plan = build_plan(model, ranges, means, config, placement, spared, peaks);
    auto left = noisy_weights(model, plan, placement);
    if (left.size() < noisy.size())
      plan.warnings.push_back(warning_of(noisy) + "; till then their layers stay in float");
    noisy = std::move(left);
  }
  warn_of_noise(noisy, plan);
  return plan;
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
  QuantPlan plan = draft_plan(model, config_, placement_);
  if (has_forms()) add_node_forms(model, plan);
  return plan;
}

QuantPlan Planner::plan(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                        const ChannelPeaks& peaks) const {
  QuantPlan plan;
  if (walks_as_onnxruntime()) {
    plan = plan_qoperator_as_onnxruntime(model, &ranges, config_);
    if (!config_.per_channel) warn_of_noise(noisy_weights(model, plan, placement_), plan);
  } else {
    plan = plan_for(model, ranges, means, peaks, config_, placement_);
    if (has_forms()) add_node_forms(model, plan);
  }
  if (has_forms() || placement_.follows_onnxruntime) warn_of_bodies(model, config_, plan);
  return plan;
}

Model Planner::lower(Model model, const QuantPlan& plan) const {
  if (has_forms()) return lower_to_qoperator(std::move(model), plan);
  Model lowered = lower_to_qdq(std::move(model), plan);
  give_concats_float32_scales(lowered);
  return lowered;
}

}  // namespace qtool
