#pragma once

#include "model/model.h"
#include "runtime/session.h"

namespace qtool {

/// The graph that ONNX Runtime makes of `model` by its optimizations of that level for the CPU,
/// with all weights in memory. `Input` error where it refuses the model, or that is beyond 2 GB.
/// Levels above Extended change the layout of values and run on this machine only.
Model optimize_by_runtime(const Model& model, SessionConfig::Optimization level);

}  // namespace qtool
