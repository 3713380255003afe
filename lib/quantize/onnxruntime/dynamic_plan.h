#pragma once

#include "config/config.h"
#include "model/model.h"
#include "quantize/dynamic/plan.h"
#include "quantize/onnxruntime/gemm_decomposition.h"

namespace qtool {

/// The plan that onnxruntime.quantization 1.32 makes for a model whose Gemms are decomposed: its
/// nodes, in its order, with its numbers. Where its model would be wrong or not load, the nearest
/// right plan instead (docs/compatibility.md).
DynamicPlan plan_dynamic_as_onnxruntime(const Model& model, const GemmDecomposition& gemms,
                                        const QuantizationConfig& config);

}  // namespace qtool
