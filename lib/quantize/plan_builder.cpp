#include "quantize/plan_builder.h"

#include <unordered_set>
#include <utility>

#include "quantize/bias_correction.h"
#include "quantize/graph_planner.h"
#include "quantize/onnxruntime/qdq_planner.h"

namespace qtool {
namespace {

QuantPlan plan_with(const PlanContext& context) {
  return GraphPlanner(context, context.model.graph()).build();
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
  GraphPlanner builder(context, model.graph());
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
                     const Placement& placement, const PlanCorrections& corrections) {
  if (placement.follows_onnxruntime) return plan_qdq_as_onnxruntime(model, nullptr, config);
  PlanContext context = draft_context(model, config, placement);
  context.corrections = &corrections;
  return plan_with(context);
}

QuantPlan build_plan(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                     const QuantizationConfig& config, const Placement& placement,
                     const PlanCorrections& corrections, const ChannelPeaks& peaks) {
  if (placement.follows_onnxruntime) return plan_qdq_as_onnxruntime(model, &ranges, config);
  PlanContext context = draft_context(model, config, placement);
  context.ranges = &ranges;
  context.means = &means;
  context.corrections = &corrections;
  context.peaks = &peaks;
  return plan_with(context);
}

}  // namespace qtool
