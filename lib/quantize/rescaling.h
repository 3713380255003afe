#pragma once

#include <optional>

#include "calibrate/ranges.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// What a node does to every value of the one tensor that it reads: x * factor + offset.
struct Rescaling {
  int slot = 0;  ///< where it reads the tensor
  double factor = 1;
  double offset = 0;
};

/// Mul and Div by a positive number, Add and Sub of one; nothing for every other node. The number
/// is a constant that gives the result no other shape.
std::optional<Rescaling> rescaling_at(const NodeContext& context);

/// Scale and zero point by which the integers of a tensor with `params` stand for the rescaled
/// values, or nothing where no such are: the zero point has to be a whole number of the type.
std::optional<QuantParams> rescaled(const QuantParams& params, const Rescaling& rescaling);

/// Scale and zero point for values of `range` that an added `offset` moves by whole steps; a little
/// coarser than `params`, which are the finest. Nothing where they would be much coarser.
std::optional<QuantParams> with_whole_offset(const QuantParams& params, const Range& range,
                                             double offset);

}  // namespace qtool
