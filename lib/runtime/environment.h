#pragma once

#include <onnxruntime_cxx_api.h>

#include "runtime/run_memory.h"

namespace qtool {

/// The process's one ONNX Runtime environment: made on first use, without telemetry and without a
/// word on any stream.
Ort::Env& environment();

/// The memory of sessions that ask for the environment's allocator.
RunMemory& run_memory();

}  // namespace qtool
