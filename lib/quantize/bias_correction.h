#pragma once

#include <span>
#include <vector>

#include <onnx/onnx_pb.h>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/tensor.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// Whether biases make up for what quantizing the weights shifts: as `quantization.algorithms`
/// says, or, where it says nothing, where the placement wants it and weights have one scale per
/// tensor, so that channels of small weights are far off.
bool corrects_biases(const QuantizationConfig& config, const Placement& placement);

/// The axis of its first input that `node` multiplies with the weight's and sums over, for a Conv
/// or Gemm; -1 for every other operator.
std::int64_t summed_axis(const onnx::NodeProto& node);

/// How far quantizing `weight` (float32, slot 1 of the Conv or Gemm `node`) moves each output
/// channel on average, given the mean of each channel of the input (docs/numerics.md, "Bias
/// correction"). Empty where the means do not fit the weight.
std::vector<double> mean_output_error(const onnx::NodeProto& node, const Tensor& weight,
                                      const QuantParams& params, std::span<const double> means);

}  // namespace qtool
