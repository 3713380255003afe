#pragma once

#include <onnxruntime_cxx_api.h>

namespace qtool {

/// The process's one ONNX Runtime environment: made on first use, without telemetry and without a
/// word on any stream.
Ort::Env& environment();

}  // namespace qtool
