#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Refuses nodes whose input types do not fit their operator, by an `Input` error starting with
/// `where`. Only what is sure is refused: a wrong shape in value_info, or a type that is not known,
/// is no reason. Graph outputs that say nothing of their type or shape get what was found for them.
void check_types(onnx::ModelProto& model, const std::string& where);

}  // namespace qtool
