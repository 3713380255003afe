#pragma once

#include <cstdint>
#include <vector>

#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/comparison.h"
#include "verify/gates.h"

namespace qtool {

/// Runs both models on every sample, at most one sample per thread in memory; the result does not
/// depend on `threads`. Inputs and outputs are matched by name, then by position; samples are cast
/// to the floating-point type that each model takes. `Input` error where a model cannot be fed or
/// no output matches.
Comparison compare_models(const Session& reference, const Session& other,
                          const SampleFolder& samples, const std::vector<std::int64_t>* labels,
                          int threads);

}  // namespace qtool
