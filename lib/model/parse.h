#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

namespace qtool {

/// How deep graphs may stand inside each other: what ONNX's own readers, with protobuf's limits,
/// take.
inline constexpr int kMaxGraphDepth = 32;

/// The location that stands for the model's own file in what parse_model gives. It has a NUL, which
/// no file name holds.
inline constexpr std::string_view kInModelFile{"\0in the model file", 18};

/// The message in `file`, in which each large tensor's values are replaced by external_data with
/// location kInModelFile and their place in the file: nothing large is copied. `Input` error
/// starting with `where` where it is no model.
onnx::ModelProto parse_model(std::span<const std::byte> file, const std::string& where);

}  // namespace qtool
