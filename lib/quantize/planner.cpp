#include "quantize/planner.h"

#include <utility>

#include "model/graph_view.h"
#include "quantize/lower_qdq.h"
#include "quantize/lower_qoperator.h"
#include "quantize/node_forms.h"
#include "quantize/onnxruntime/qoperator_plan.h"

namespace qtool {
namespace {

/// For formats and presets that leave them as they are.
void warn_of_bodies(const Model& model, const QuantizationConfig& config, QuantPlan& plan) {
  if (config.extra_options.enable_subgraph && has_subgraphs(model.graph()))
    plan.warnings.emplace_back(
        "EnableSubgraph: what lies in subgraphs stays in float nevertheless");
}

}  // namespace

Planner::Planner(const QuantizationConfig& config, Preset preset)
    : config_(config), preset_(preset), placement_(placement_for(preset)) {
  if (has_forms()) placement_ = with_integer_forms(placement_);
}

Measurements Planner::measurements(const Model& model) const {
  if (walks_as_onnxruntime()) return {tensors_measured_by_qoperator(model, config_), {}};
  return qtool::measurements(model, config_, placement_);
}

QuantPlan Planner::draft(const Model& model) const {
  if (walks_as_onnxruntime()) return plan_qoperator_as_onnxruntime(model, nullptr, config_);
  QuantPlan plan = draft_plan(model, config_, placement_);
  if (has_forms()) add_node_forms(model, plan);
  return plan;
}

QuantPlan Planner::plan(const Model& model, const TensorRanges& ranges,
                        const ChannelMeans& means) const {
  QuantPlan plan = walks_as_onnxruntime() ? plan_qoperator_as_onnxruntime(model, &ranges, config_)
                                          : build_plan(model, ranges, means, config_, placement_);
  if (has_forms() && !walks_as_onnxruntime()) add_node_forms(model, plan);
  if (has_forms() || placement_.follows_onnxruntime) warn_of_bodies(model, config_, plan);
  return plan;
}

Model Planner::lower(Model model, const QuantPlan& plan) const {
  return has_forms() ? lower_to_qoperator(std::move(model), plan)
                     : lower_to_qdq(std::move(model), plan);
}

}  // namespace qtool
