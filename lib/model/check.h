#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Checks a model whose tensors are in a Model's forms: an `Input` error starting with `where`
/// where it is not sound.
void check_structure(const onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
