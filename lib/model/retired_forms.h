#pragma once

#include <onnx/onnx_pb.h>

namespace qtool {

/// Rewrites nodes in a form that their opset does not have but that has one meaning only: Upsample
/// in opset 10, which withdrew it for the same under the name Resize, and Clip with its bounds as
/// constant inputs before opset 11.
void replace_retired_forms(onnx::ModelProto& model);

}  // namespace qtool
