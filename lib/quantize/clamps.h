#pragma once

#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// Whether quantizing the output of a Relu or Clip with `params` gives the same integers without
/// the node: rounding keeps order, so that is where both of its bounds saturate (docs/numerics.md,
/// "Ranges of activations"). A bound that is computed proves nothing.
bool quantizer_clamps(const NodeContext& clamp, const QuantParams& params);

}  // namespace qtool
