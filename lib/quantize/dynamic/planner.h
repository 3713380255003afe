#pragma once

#include "config/config.h"
#include "model/model.h"
#include "quantize/dynamic/plan.h"

namespace qtool {

/// Decides for every node of every graph whether it computes with 8-bit weights and activations
/// quantized at run time, and makes the 8-bit weights.
DynamicPlan plan_dynamic(const Model& model, const QuantizationConfig& config);

}  // namespace qtool
