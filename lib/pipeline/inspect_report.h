#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "inspect/explain.h"
#include "inspect/summary.h"
#include "pipeline/model_file.h"
#include "quantize/plan.h"

namespace qtool {

/// Result of `inspect`.
struct InspectReport {
  ModelFile model;
  ModelSummary summary;
  std::size_t quantized_node_count = 0, folded_node_count = 0;
  std::vector<Skipped> left_in_float;
  std::string obstacle;  ///< why nothing can be said of quantization; empty otherwise
  std::optional<NodeExplanation> explanation;  ///< of the node that was asked for
  std::vector<std::string> warnings;
};

}  // namespace qtool
