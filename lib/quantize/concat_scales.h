#pragma once

#include "model/model.h"

namespace qtool {

/// Gives every Concat of float16 values that stands between DequantizeLinear and QuantizeLinear
/// float32 scales on both sides: ONNX Runtime makes one integer operator of the three, which knows
/// no others, and would not load the model.
void give_concats_float32_scales(Model& model);

}  // namespace qtool
