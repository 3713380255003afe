#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"
#include "runtime/session.h"

namespace qtool {

/// Inputs of a model, made up by their types, and what it gives for them.
struct MadeUpSample {
  std::vector<NamedTensor> inputs, outputs;
};

/// Runs a model on made-up values for `inputs`, with the first sizes of free axes on which it runs.
/// No outputs, and `reason`, where there are none.
MadeUpSample run_made_up(const Session& original, std::span<const TensorInfo> inputs,
                         std::mt19937& random, std::string& reason);

}  // namespace qtool
