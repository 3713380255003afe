#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/progress.h"
#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/comparison.h"
#include "verify/gates.h"

namespace qtool {

struct CompareOptions {
  std::span<const std::int64_t> labels = {};  ///< the class of each sample; empty: no labels
  int threads = 1;
  Progress progress = {};                          ///< empty: nobody watches
  std::string reference_name = "reference model";  ///< for messages
  std::string other_name = "compared model";
};

/// Runs both models on every sample, at most one sample per thread in memory; the result does not
/// depend on the number of threads. Inputs and outputs are matched by name, then by position;
/// samples are cast to the floating-point type that each model takes. `Input` error where a model
/// cannot be fed or no output matches.
Comparison compare_models(const Session& reference, const Session& other,
                          const SampleFolder& samples, const CompareOptions& options);

}  // namespace qtool
