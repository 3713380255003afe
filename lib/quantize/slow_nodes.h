#pragma once

#include <functional>
#include <vector>

#include "model/graph_view.h"
#include "quantize/islands.h"
#include "quantize/op_rules.h"

namespace qtool {

/// Leaves in float what `placement` says runs no faster in integers, each with the reason:
/// operators and nodes that the runtime has no integer kernel for, products of two computed values,
/// layers of few channels, and those that a logarithm follows. `is_asked_for` tells of a node
/// whether the user said how to quantize it.
void leave_slow_nodes(const Model& model, const GraphView& graph, const Placement& placement,
                      const std::function<bool(const onnx::NodeProto&)>& is_asked_for,
                      std::vector<SelectedNode>& nodes);

}  // namespace qtool
