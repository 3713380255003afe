#pragma once

#include <vector>

#include "model/graph_view.h"

namespace qtool {

/// Per node, whether all that it computes ends as a size: in the scales of a Resize, the shape of a
/// Reshape and the like, directly or through others of its kind. Such numbers are no data: rounded,
/// they give other shapes.
std::vector<bool> size_nodes(const GraphView& graph);

}  // namespace qtool
