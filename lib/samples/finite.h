#pragma once

#include <cstddef>
#include <optional>

#include "model/tensor.h"

namespace qtool {

/// Row-major index of the first NaN or infinity, if there is one.
std::optional<std::size_t> find_nonfinite(const Tensor& tensor);

}  // namespace qtool
