#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Brings the nodes of every graph and function into an order in which each comes after what it
/// reads, subgraphs included. Nodes keep their order where they can. `Input` error starting with
/// `where` where there is none (a cycle), a value is made twice or read but never made, or a name
/// is missing.
void order_nodes(onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
