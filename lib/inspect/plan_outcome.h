#pragma once

#include <cstddef>
#include <vector>

#include "quantize/plan.h"

namespace qtool {

/// What a plan comes to for the nodes of a model, subgraphs included.
struct PlanOutcome {
  std::size_t quantized_nodes = 0;
  std::size_t folded_nodes = 0;
  std::size_t float_nodes = 0;
  std::vector<Skipped> left;  ///< every node in float, and single tensors of quantized ones
};

}  // namespace qtool
