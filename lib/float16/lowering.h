#pragma once

#include "float16/plan.h"
#include "model/model.h"

namespace qtool {

/// Carries out a plan that was made for this model. Large weights are converted only when the
/// result is written.
Model lower_float16(Model model, const Float16Plan& plan);

}  // namespace qtool
