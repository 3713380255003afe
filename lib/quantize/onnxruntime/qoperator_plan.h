#pragma once

#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/plan.h"

namespace qtool {

/// The plan that onnxruntime.quantization 1.32 makes in format QOperator: its nodes, in its order,
/// with its numbers. Where its model would be wrong or not load, the nearest right plan instead
/// (docs/compatibility.md). Without `ranges` a draft: every tensor counts as having one.
QuantPlan plan_qoperator_as_onnxruntime(const Model& model, const TensorRanges* ranges,
                                        const QuantizationConfig& config);

/// Names of the tensors whose ranges that plan may ask for, each once.
std::vector<std::string> tensors_measured_by_qoperator(const Model& model,
                                                       const QuantizationConfig& config);

}  // namespace qtool
