#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// A node of a quantized model that a target does not take, or takes badly.
struct LintFinding {
  std::string node;    ///< `node 'conv1' (Conv)`
  std::string tensor;  ///< empty: the node itself
  std::string fault;   ///< `is uint8, expected int8`
};

/// What in `model`, whoever quantized it, breaks a rule of the target that `preset` stands for; in
/// the order of the nodes, bodies after their graph. Empty for a model that carries no quantized
/// values.
std::vector<LintFinding> lint(const Model& model, Preset preset);

}  // namespace qtool
