#pragma once

#include "model/tensor.h"

namespace qtool {

/// Whether every value of type `from` is one of type `to`.
bool is_lossless(ElementType from, ElementType to);

/// Whether samples of type `from` are taken where a model wants `to`: the same, lossless, or
/// float64 as float32.
bool is_accepted(ElementType from, ElementType to);

/// `tensor` in another type, which must be an accepted one.
Tensor cast(const Tensor& tensor, ElementType to);

}  // namespace qtool
