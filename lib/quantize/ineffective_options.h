#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "config/config.h"
#include "quantize/plan.h"

namespace qtool {

/// A line for each option that differs from its default and changes nothing of this model, as far
/// as that shows in the plan: `quantization.extra_options.BlockSize: has no effect: no weight has
/// blocks`. Empty where the plan quantizes nothing: no option has an effect then.
std::vector<std::string> ineffective_options(const onnx::GraphProto& graph, const QuantPlan& plan,
                                             const QuantizationConfig& config, Preset preset);

}  // namespace qtool
