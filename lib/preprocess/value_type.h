#pragma once

#include <cstdint>
#include <optional>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Whether a type says what the value is; a tensor's says at least its element type.
bool is_typed(const onnx::TypeProto& type);

/// Bytes of a value of that type; nothing where its size is free or unknown, or it is no plain
/// tensor.
std::optional<std::uint64_t> known_bytes(const onnx::TypeProto& type);

}  // namespace qtool
