#pragma once

#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/channel_input.h"

namespace qtool {

/// Names of all float32, float16 and bfloat16 activations around operators that have a rule, of the
/// main graph and of bodies in it, in graph order: all whose range `build_plan` could ask for with
/// any preset, type, format and list of nodes, and what other algorithms may. Only
/// `op_types_to_quantize` counts, which adds operators that have no rule and leaves out the others.
std::vector<std::string> measurable_tensors(const Model& model, const QuantizationConfig& config);

/// Those of them whose means per channel `build_plan` could make use of.
std::vector<AveragedTensor> averageable_tensors(const Model& model,
                                                const QuantizationConfig& config);

/// What a Conv, Gemm or MatMul with constant weights multiplies these with, one for each such node,
/// in graph order; several may read one tensor.
std::vector<ChannelInput> channel_inputs(const Model& model, const QuantizationConfig& config);

}  // namespace qtool
