#pragma once

#include <string>

#include "model/graph_view.h"

namespace qtool {

/// How often a run goes through the body in that attribute of a node, as far as constants and
/// sizes tell: 0 for the branch that an If never takes, 1 where it is not known.
double rounds_of(const GraphView& graph, const onnx::NodeProto& node, const std::string& attribute);

}  // namespace qtool
