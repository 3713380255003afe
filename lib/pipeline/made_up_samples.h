#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"
#include "runtime/session.h"

namespace qtool {

/// A sample that nobody gave, and what a model made of it.
struct MadeUpRun {
  std::vector<NamedTensor> inputs, outputs;  ///< no outputs: there is no such run
};

/// Runs a model on values by the types of `inputs`, with the first sizes for free axes with which
/// it runs; the same in every run of the tool. Where it runs with none, `reason` says why.
MadeUpRun run_made_up(const Session& model, std::span<const TensorInfo> inputs,
                      std::mt19937& random, std::string& reason);

}  // namespace qtool
