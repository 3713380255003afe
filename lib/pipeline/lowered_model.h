#pragma once

#include "config/config.h"
#include "model/model.h"
#include "quantize/planner.h"

namespace qtool {

/// The model that `plan` makes of `model`, as it is written. Operators that preprocessing took
/// apart for integer kernels, before it was known which layers get one, are whole again where they
/// stayed in float.
Model lowered_model(Model model, const QuantPlan& plan, const Planner& planner,
                    const Config& config);

}  // namespace qtool
