#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Checks a model that was repaired: by the ONNX checker, and where that is blind. Inputs and
/// outputs of unknown rank may be there, as for ONNX Runtime. `Input` error starting with `where`
/// where it is not sound.
void check_sound(const onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
