#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Refuses functions whose calls never end, or stand for more nodes than anything could run: ONNX
/// and ONNX Runtime expand them. `Input` error starting with `where`.
void check_functions(const onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
