#pragma once

#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/plan.h"

namespace qtool {

/// The plan that onnxruntime.quantization 1.32 makes in format QDQ: its tensors, in its order, with
/// its numbers. Where its model would be wrong or not load, the nearest right plan instead
/// (docs/compatibility.md). Without `ranges` a draft: every tensor counts as having one.
QuantPlan plan_qdq_as_onnxruntime(const Model& model, const TensorRanges* ranges,
                                  const QuantizationConfig& config);

/// Names of the tensors whose ranges that plan asks for, each once.
std::vector<std::string> tensors_measured_by_onnxruntime(const Model& model,
                                                         const QuantizationConfig& config);

}  // namespace qtool
