#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "preprocess/graph_editor.h"

namespace qtool {

/// min(max(alpha * x + beta, 0), 1) times `factor`.
struct Gate {
  int node = -1;  ///< that makes it
  std::string x;
  double alpha = 1, beta = 0, factor = 1;
};

/// The numbers that may be added to and multiplied with x before it is clamped.
constexpr int kMaxGateSteps = 2;

/// The gate that node `index` makes by clamping, with up to `max_steps` nodes before that; with one
/// more clamp where that alone is half of one. A HardSigmoid is one too.
std::optional<Gate> gate_at(const GraphEditor& graph, int index, int max_steps);

/// The first opset with that operator.
constexpr std::int64_t kFirstWithHardSwish = 14;

/// Whether the gate times its x is a HardSwish, but for a factor.
bool is_hard_swish(const Gate& gate);

}  // namespace qtool
