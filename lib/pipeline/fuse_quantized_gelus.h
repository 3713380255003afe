#pragma once

#include "config/config.h"
#include "model/model.h"
#include "quantize/op_rules.h"

namespace qtool {

/// Puts one operator for each spelled-out Gelu that would be computed of a quantized value, where
/// `placement` wants that: ONNX's, or below the opset that has it ONNX Runtime's own. Where the
/// config says what is to be quantized nothing is fused, nor what it names tensors of. Tells
/// whether anything changed.
bool fuse_quantized_gelus(Model& model, const Config& config, const Placement& placement);

}  // namespace qtool
