#pragma once

#include <vector>

#include "float16/model_index.h"

namespace qtool {

/// Per node, whether it computes with counts, sizes or positions whose rounding would change more
/// than the last digits of a result: float numbers that come from integers (and constants), and end
/// as integers again, in a comparison of such numbers, as an input that says where something is, or
/// in a sine or cosine.
std::vector<bool> nodes_with_exact_numbers(const ModelIndex& index);

}  // namespace qtool
