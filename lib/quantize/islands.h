#pragma once

#include <functional>
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

/// Whether an Add reads at `use` what a layer makes for it alone; of two such inputs the first.
/// Placements that add to layers leave that one as it is.
bool is_added_to_layer(const GraphView& graph, const std::vector<SelectedNode>& nodes, Use use);

/// Takes the rule from operators that would be quantized between float ones: Entry::OutputRead
/// needs computed inputs made in integers (all, or one where the placement joins mixed inputs) and
/// an output that is read as such, the movers need an input made in integers. What remains are
/// islands around the operators that multiply or store weights.
Islands settle_islands(const GraphView& graph, const Placement& placement,
                       std::vector<SelectedNode>& nodes);

}  // namespace qtool
