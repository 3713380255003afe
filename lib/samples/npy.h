#pragma once

#include "model/tensor.h"
#include "samples/byte_stream.h"

namespace qtool {

/// Reads an `.npy` file as a value for `input`, in its own element type and shape; an `Input` error
/// where it is broken or does not fit. Bytes without a meaning are taken as the type of `input`
/// where that is one of bfloat16, float8 and those below 8 bits: NumPy stores them so.
Tensor read_npy(ByteStream& stream, const TensorInfo& input);

}  // namespace qtool
