#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Puts right what one of ONNX Runtime and the ONNX checker takes and the other does not, without
/// changing what the model computes:
///   - nodes get an order in which each comes after what it reads
///   - the default domain is written "" everywhere; ONNX Runtime's domains are imported where used
///   - a model from before IR version 4 becomes one of version 4, in which initializers are no
///     inputs
///   - graphs get a name, nodes names that differ; of metadata with one key the last entry stays
///   - value_info of a type that is none goes
///   - nodes in a form that is retired, or not yet there in their opset, get the one that is
/// `Input` error starting with `where` for versions that are missing, contradictory or unknown, and
/// as order_nodes says.
void repair_model(onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
