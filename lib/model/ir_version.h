#pragma once

#include <cstdint>

#include "model/model.h"

namespace qtool {

/// The IR version that came with an opset; files of a later opset under an earlier IR version are
/// refused by some readers.
std::int64_t ir_version_of(std::int64_t opset);

/// The IR version that introduced an element type.
std::int64_t ir_version_of(ElementType type);

/// Raises the IR version to what the types of the model's tensors need.
void raise_ir_version(Model& model);

}  // namespace qtool
