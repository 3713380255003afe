#pragma once

#include <span>
#include <string>

#include "calibrate/ranges.h"
#include "quantize/plan.h"

namespace qtool {

/// Why a tensor with values of this range stays in float: the range holds a mask (large negative
/// values, which Softmax or MaxPool take for "not here"), and all that is not masked would become
/// zero. Empty where that is not so.
std::string obstacle_by_mask(const Range& range, const QuantParams& params);

/// The same of a constant's values, with one scale for all.
std::string obstacle_by_mask(std::span<const float> values, const QuantParams& params);

}  // namespace qtool
