#pragma once

#include <onnxruntime_cxx_api.h>

#include "runtime/session.h"

namespace qtool {

/// What ONNX Runtime is told about every session of that config.
Ort::SessionOptions session_options(const SessionConfig& config);

}  // namespace qtool
