#pragma once

#include <optional>
#include <string>

#include "model/graph_view.h"

namespace qtool {

/// The one float32 or float16 number that `value` always is; nothing where it is computed, holds
/// more, or is a default that a caller may replace.
std::optional<float> scalar_constant(const Model& model, const GraphView& graph,
                                     const std::string& value);

}  // namespace qtool
