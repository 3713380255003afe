#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Refuses equations of Einsum nodes that are malformed, by an `Input` error starting with `where`:
/// the shape inference of ONNX, which ONNX Runtime shares, never ends on some of them.
void check_einsum(const onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
