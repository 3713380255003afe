#pragma once

#include <string>

#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// The JSON text that onnxruntime.quantization reads as its calibration cache: the ends of each
/// tensor's range, and the method under its name there. Methods that it does not have are MinMax to
/// it, for which the ends are all there is.
std::string calibration_cache(const TensorRanges& ranges, CalibrationMethod method);

}  // namespace qtool
