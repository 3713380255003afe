#pragma once

#include "model/model.h"
#include "quantize/dynamic/plan.h"

namespace qtool {

/// Carries the plan out: the model that the plan was made for, with 8-bit weights and operators
/// that quantize at run time. Takes the values of the weights out of the plan; those without stand
/// in the model by their index in the plan, to be made when it is written.
Model lower_dynamic(Model model, DynamicPlan& plan);

}  // namespace qtool
