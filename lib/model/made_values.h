#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Values of a tensor that are made while the model is written, so that no two need be in memory.
struct MadeValues {
  std::size_t number = 0;  ///< for the ValueMaker
  std::uint64_t bytes = 0;
};

/// Gives the bytes of the values with that number, the same every time it is asked.
using ValueMaker = std::function<std::vector<std::byte>(std::size_t number)>;

/// Has values that are made later stand in `tensor`. Until then nothing can read them.
void set_made(onnx::TensorProto& tensor, const MadeValues& values);

/// Nothing where the tensor's values are there, or in a file.
std::optional<MadeValues> made_values_of(const onnx::TensorProto& tensor);

}  // namespace qtool
