#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/tensor.h"

namespace qtool {

/// Throws the `Input` error, starting with `where`, for a value that cannot be given to `input` by
/// its type or shape. Called before the values are read, so that no memory is taken for what would
/// be refused.
void require_fit(ElementType type, std::span<const std::int64_t> shape, const TensorInfo& input,
                 const std::string& where);

/// `tensor`, which has passed require_fit, as the model takes it: cast, with the batch axis of 1
/// that it may lack. Throws the `Input` error for NaN and infinities unless they are allowed.
Tensor fit(Tensor tensor, const TensorInfo& input, bool allow_nonfinite, const std::string& where);

}  // namespace qtool
