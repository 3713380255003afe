#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "model/tensor.h"
#include "pipeline/trial_budget.h"

namespace qtool {

struct Config;
class Model;
class Planner;

/// CPU time of one run on this machine, one thread, of a model and of what quantizing with made-up
/// ranges makes of it, and how many runs of each say so.
struct Trial {
  double float_us = 0, quantized_us = 0;
  std::size_t float_runs = 0, quantized_runs = 0;

  /// Below 1: integers are faster.
  double ratio() const { return float_us > 0 ? quantized_us / float_us : 1; }
};

/// Makes a trial of `original` and of what `planner` makes of `prepared`, on the same `inputs`.
/// What ONNX Runtime makes of a graph and how long its kernels take depends on sizes and on where
/// quantizers stand, hardly on their ranges. Nothing where `cost` is not affordable or a model does
/// not run.
std::optional<Trial> try_out(const Model& original, const Model& prepared, const Planner& planner,
                             const Config& config, std::span<const NamedTensor> inputs,
                             TrialCost cost);

}  // namespace qtool
