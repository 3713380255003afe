#pragma once

#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// Names of all tensors whose range `build_plan` could ask for with any preset, type, format and
/// list of nodes, in graph order: what a table has to hold that serves every later config. Only
/// `op_types_to_quantize` counts, which adds operators that have no rule and leaves out the others.
std::vector<std::string> measurable_tensors(const Model& model, const QuantizationConfig& config);

/// Those of them whose means per channel `build_plan` could make use of.
std::vector<AveragedTensor> averageable_tensors(const Model& model,
                                                const QuantizationConfig& config);

}  // namespace qtool
