#pragma once

#include <string>

#include "calibrate/ranges.h"

namespace qtool {

/// The text that ONNX Runtime's TensorRT provider reads: a line `NAME VALUE` for each tensor, by
/// ascending name, with the largest magnitude of its range. `Input` error for a name with white
/// space, which would end it.
std::string tensorrt_cache(const TensorRanges& ranges);

}  // namespace qtool
