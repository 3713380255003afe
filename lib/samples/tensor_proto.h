#pragma once

#include "model/tensor.h"
#include "samples/byte_stream.h"

namespace qtool {

/// Reads a TensorProto (`.pb`) as a value for `input`, under the name that it gives itself; an
/// `Input` error where it is broken or does not fit.
NamedTensor read_tensor_proto(ByteStream& stream, const TensorInfo& input);

}  // namespace qtool
