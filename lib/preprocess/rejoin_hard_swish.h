#pragma once

#include "model/model.h"

namespace qtool {

/// Makes HardSwish again of Add, Clip and Mul behind a Conv that stayed in float, in a quantized
/// model, from opset 14 on. Opset 13 becomes 14 for it with `may_raise_opset`. Whether there was
/// one.
bool rejoin_hard_swish(Model& model, bool may_raise_opset);

}  // namespace qtool
