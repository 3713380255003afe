#pragma once

#include <functional>
#include <vector>

#include <onnx/onnx_pb.h>

namespace qtool {

/// The types that one round of a loop makes of those of what is carried into it.
using LoopRound =
    std::function<std::vector<onnx::TypeProto>(const std::vector<onnx::TypeProto>& carried)>;

/// What is true in every round of the types of the values that a loop carries, of which the first
/// round gets `initial`: sizes that each round hands on as they came.
std::vector<onnx::TypeProto> types_of_every_round(std::vector<onnx::TypeProto> initial,
                                                  const LoopRound& round);

}  // namespace qtool
