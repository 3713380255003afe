#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/graph_view.h"
#include "quantize/op_rules.h"

namespace qtool {

/// The rule by which a node is quantized; without one, why it stays in float.
struct SelectedNode {
  const OpRule* rule = nullptr;
  std::string reason;
};

/// Values between quantized operators.
struct Islands {
  std::unordered_set<std::string_view> read;  ///< a quantized operator takes it in integers
  std::unordered_set<std::string_view> made;  ///< a quantized operator gives it in integers
};

/// Takes the rule from operators that would be quantized between float ones: Entry::OutputRead
/// needs every computed input made in integers and an output that is read as such, the movers need
/// an input made in integers. What remains are islands around the operators that multiply or store
/// weights.
Islands settle_islands(const GraphView& graph, std::vector<SelectedNode>& nodes);

}  // namespace qtool
