#pragma once

#include <onnx/onnx_pb.h>

namespace qtool {

/// Whether a node computes the same from the same inputs each time, by nothing but these, and is
/// not there for quantization.
bool is_pure(const onnx::NodeProto& node);

/// Whether values of its inputs, not only their shapes, say how large the node's outputs are.
bool is_sized_by_values(const onnx::NodeProto& node);

}  // namespace qtool
