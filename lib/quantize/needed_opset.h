#pragma once

#include <cstdint>

#include "config/config.h"
#include "model/model.h"
#include "quantize/op_rules.h"

namespace qtool {

/// The opset that the quantized model must have at least, as far as its draft shows: 11 for Q and
/// DQ that runtimes fuse, 13 for scales of channels, 19 for float8 and for float16 scales, 21 for
/// 16-bit and 4-bit types and for blocks. ONNX Runtime's own Q and DQ have 4-bit types and axes
/// earlier: preset onnxruntime takes those as onnxruntime.quantization does.
std::int64_t needed_opset(const Model& model, const QuantizationConfig& config,
                          const Placement& placement);

/// The domain of Q and DQ in a model of that opset.
std::string qdq_domain(const QuantizationConfig& config, std::int64_t opset);

}  // namespace qtool
