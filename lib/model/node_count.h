#pragma once

#include <cstddef>

#include <onnx/onnx_pb.h>

namespace qtool {

/// The nodes of a graph and of all bodies in it.
std::size_t node_count(const onnx::GraphProto& graph);

}  // namespace qtool
