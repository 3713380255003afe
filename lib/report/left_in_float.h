#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/json.h"
#include "inspect/plan_outcome.h"
#include "report/document.h"

namespace qtool {

/// Nodes of one operator, or tensors that such nodes read or write, that stay in float for one
/// reason.
struct LeftGroup {
  std::string op_type;
  std::string reason;
  std::vector<std::string> names;  ///< in graph order
};

/// What stays in float, the largest group first.
struct LeftInFloat {
  std::vector<LeftGroup> nodes;
  std::vector<LeftGroup> tensors;  ///< of nodes that are quantized otherwise
};

LeftInFloat group_left(std::span<const Skipped> skipped);

/// The largest groups, as many as `limit` of each kind; nothing where nothing is left.
std::vector<Section> left_sections(const LeftInFloat& left, std::size_t limit);

/// Every node and tensor by name, folded up.
std::vector<Section> left_details(const LeftInFloat& left);

JsonValue to_json(const LeftInFloat& left);

/// How many nodes were quantized, folded away and left.
JsonValue node_counts_json(const PlanOutcome& outcome);

}  // namespace qtool
