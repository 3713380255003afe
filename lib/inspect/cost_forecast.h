#pragma once

#include <cstddef>

#include <onnx/onnx_pb.h>

#include "quantize/plan.h"

namespace qtool {

class Model;

/// Predicted CPU time of one run, with one thread of the machine that docs/placement.md names.
struct CostForecast {
  double float_us = 0;            ///< of the model as it came
  double quantized_us = 0;        ///< of the model that a plan makes
  std::size_t nodes = 0;          ///< of that model, without branches that never run
  std::size_t unknown_nodes = 0;  ///< whose sizes are not known: they count for nothing

  /// Below 1: integers are faster.
  double ratio() const { return float_us > 0 ? quantized_us / float_us : 1; }
};

/// Adds up the cost table. `original` is the model before preprocessing, `prepared` the one that
/// `plan` was made for (a draft will do); both with shapes inferred.
CostForecast forecast_cost(const Model& original, const Model& prepared, const QuantPlan& plan);

}  // namespace qtool
