#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace qtool {

/// Asks ONNX Runtime for the types of main graph values that our own rules could not tell: it knows
/// every operator that it runs. Costs one load of the model, and nothing where all is known. True
/// where something became known.
bool add_runtime_types(Model& model, std::vector<std::string>& notes);

}  // namespace qtool
