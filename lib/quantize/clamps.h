#pragma once

#include <optional>

#include "calibrate/ranges.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// What a Relu or Clip lets through, infinite where it has no bound; nothing where a bound is
/// computed.
std::optional<Range> bounds_of_clamp(const NodeContext& clamp);

/// Whether integers of `params` do the work of a Relu or Clip without the node: none of them stands
/// for a value more than half a step beyond its bounds (docs/numerics.md, "Ranges of activations").
/// A bound that is computed proves nothing.
bool quantizer_clamps(const NodeContext& clamp, const QuantParams& params);

}  // namespace qtool
