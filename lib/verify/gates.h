#pragma once

#include <vector>

#include "config/config.h"
#include "verify/comparison.h"

namespace qtool {

/// The gates that `config` sets, in its order, judged on these figures; `size_ratio` is other /
/// reference bytes. A gate with nothing to judge is not met.
std::vector<Gate> judge_gates(const VerifyConfig& config, const Comparison& comparison,
                              double size_ratio);

}  // namespace qtool
