#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "config/config.h"
#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/bias_planner.h"
#include "quantize/onnxruntime/marking.h"
#include "quantize/plan.h"

namespace qtool {

/// Adds the plans of marked biases as onnxruntime.quantization 1.32 quantizes them, once `plan` has
/// all other tensors (`placed`: their places in it). Weight scales that would make a bias overflow
/// int32 are raised first. A bias stays in float where its node's input or weight does.
void plan_biases_as_onnxruntime(const Model& model, const GraphView& graph,
                                std::span<const MarkedBias> biases,
                                const std::unordered_map<std::string, int>& placed,
                                const ZeroChannels& zero_channels, const QuantizationConfig& config,
                                QuantPlan& plan);

}  // namespace qtool
