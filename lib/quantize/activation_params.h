#pragma once

#include "calibrate/ranges.h"
#include "config/config.h"
#include "quantize/plan.h"

namespace qtool {

/// Type, scale and zero point of an activation of `value_type` whose values lie in `range`, as far
/// as `override` (may be null) does not say otherwise.
QuantParams activation_params(const Range& range, const QuantizationConfig& config,
                              const TensorOverride* override, ElementType value_type);

/// Those of its copy in another type.
QuantParams conversion_params(const Range& range, const QuantizationConfig& config,
                              const ConvertOverride& conversion, ElementType value_type);

}  // namespace qtool
