#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

#include "model/wire.h"

namespace qtool {

/// A tensor of a message whose values lie there in one piece, as raw_data would.
struct TensorInFile {
  onnx::TensorProto head;  ///< without its values
  WireField values;
  bool is_initializer = false;
};

/// Which tensors lose their values, and the location that external_data gives for them instead.
struct Reduction {
  std::string_view location;
  std::size_t least_bytes = 0;
  std::function<bool(const TensorInFile&)> takes = [](const TensorInFile&) { return true; };
};

/// Copies the message of a model without the values of the tensors of `least_bytes` and more that
/// the reduction takes; what replaces them is their place in `file`. All other bytes stay as they
/// are, whatever is unusual too. `Input` error starting with `where` where it is no message.
std::string reduce_message(std::span<const std::byte> file, const Reduction& reduction,
                           const std::string& where);

}  // namespace qtool
