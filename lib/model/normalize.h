#pragma once

#include <cstddef>
#include <string>

#include <onnx/onnx_pb.h>

#include "model/tensor_walk.h"

namespace qtool {

/// What a tensor takes by its shape and type.
struct TensorSize {
  std::size_t elements = 0;
  std::size_t bytes = 0;  ///< 0 for strings
};

/// The size by type and dims; an `Input` error starting with `where` if the type is none or the
/// shape impossible.
TensorSize checked_size(const onnx::TensorProto& tensor, const TensorPlace& place,
                        const std::string& where);

/// The same for a tensor whose values are outside the message; also an `Input` error where some are
/// inside as well.
TensorSize checked_external_size(const onnx::TensorProto& tensor, const TensorPlace& place,
                                 const std::string& where);

/// Brings a tensor whose values are in the message to raw_data or string_data; `Input` error where
/// they do not fit its type and dims.
void normalize_tensor(onnx::TensorProto& tensor, const TensorPlace& place,
                      const std::string& where);

}  // namespace qtool
