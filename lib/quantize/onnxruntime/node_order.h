#pragma once

#include <onnx/onnx_pb.h>

namespace qtool {

/// Brings the graph's nodes into the order in which onnxruntime.quantization writes them: those
/// without inputs; those that need only initializers and graph inputs, in the order of the names of
/// the last of these; then whatever becomes ready, breadth first. What subgraphs read from outside
/// counts as an input too, so that the order is one.
void sort_as_onnxruntime(onnx::GraphProto& graph);

}  // namespace qtool
