#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Gives the constant that a name stands for in the graph of a node, or nullptr.
using ConstantOf = std::function<const onnx::TensorProto*(const std::string&)>;

/// What the condition of an If always is; nothing where it is computed, and for other nodes.
std::optional<bool> constant_condition(const onnx::NodeProto& node, const ConstantOf& constant);

/// How many rounds a Loop always takes; nothing where that is computed, and for other nodes.
std::optional<std::int64_t> constant_round_count(const onnx::NodeProto& node,
                                                 const ConstantOf& constant);

}  // namespace qtool
