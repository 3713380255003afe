#pragma once

#include <functional>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"
#include "quantize/plan_builder.h"

namespace qtool {

/// Makes the plan that the preset and the format of the output ask for. The functions are those of
/// plan_builder.h.
class Planner {
 public:
  Planner(const QuantizationConfig& config, Preset preset);

  Measurements measurements(const Model& model) const;
  QuantPlan draft(const Model& model) const;
  QuantPlan plan(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                 const ChannelPeaks& peaks = {}) const;
  /// Carries the plan out.
  Model lower(Model model, const QuantPlan& plan) const;

  const Placement& placement() const { return placement_; }

 private:
  QuantPlan corrected_plan(const Model& model, const ChannelStatistics* channels,
                           const std::function<QuantPlan(const PlanCorrections&)>& build) const;
  bool has_forms() const { return config_.quant_format == QuantFormat::QOperator; }
  bool walks_as_onnxruntime() const { return has_forms() && preset_ == Preset::OnnxRuntime; }

  const QuantizationConfig& config_;
  Preset preset_;
  Placement placement_;
};

}  // namespace qtool
