#pragma once

#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

namespace qtool {

/// A copy of `model` for being told by ONNX which node is at fault. ONNX names a node by its name
/// alone, which many lack: in the copy each bears our words for it, marked so that they can be
/// found again.
onnx::ModelProto with_marked_nodes(const onnx::ModelProto& model);

/// The innermost marked node that `text` names, in our words; empty where it names none.
std::string marked_node(std::string_view text);

/// What stands after the innermost marked node of `text`; all of it where it names none.
std::string_view after_marked_node(std::string_view text);

/// A library's words as one line in our form: lower case, no final period.
std::string reworded(std::string_view text);

}  // namespace qtool
