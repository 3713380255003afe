#pragma once

#include "model/model.h"

namespace qtool {

/// Replaces nodes that ask for sizes which inference found (Shape, Size, a Gather or Slice of
/// Shape) by initializers; their number.
int fold_shapes(Model& model);

}  // namespace qtool
