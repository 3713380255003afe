#pragma once

#include "model/model.h"

namespace qtool {

/// Has a model compute in float32, which holds every bfloat16 value, what it would compute in
/// bfloat16: runtimes have kernels for the one on every processor. Constants, Casts and declared
/// types change, in bodies and functions too; the model's own inputs and outputs keep their type
/// behind Casts. False, and nothing changed, where the model has no bfloat16.
bool widen_bfloat16(Model& model);

}  // namespace qtool
