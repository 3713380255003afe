#pragma once

#include <cstdint>

#include "config/config.h"
#include "model/model.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// The opset that the quantized model must have at least, as far as its draft shows: 11 for Q and
/// DQ that runtimes fuse, 13 for scales of channels and beside MaxPool with preset cpu, 19 for
/// float8 and for float16 scales, 21 for 16-bit and 4-bit types and for blocks. ONNX Runtime's own
/// Q and DQ have 4-bit types and axes earlier: preset onnxruntime takes those as
/// onnxruntime.quantization does.
std::int64_t needed_opset(const Model& model, const QuantizationConfig& config,
                          const Placement& placement);

/// Whether a model whose opset cannot be raised can do with ONNX Runtime's own Q and DQ, which have
/// all but float8 at every opset.
bool can_stay_below(const QuantizationConfig& config);

/// The domain of Q and DQ in a model of that opset: ONNX Runtime's where the user or the preset
/// wants it, or ONNX's own lack what the plan needs.
std::string qdq_domain(const QuantPlan& plan, const QuantizationConfig& config, std::int64_t opset);

}  // namespace qtool
