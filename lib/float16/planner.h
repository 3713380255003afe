#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "float16/model_index.h"
#include "float16/plan.h"
#include "model/model.h"

namespace qtool {

/// Operators that stay in float32 where the config says nothing else: their sums or coordinates
/// need more digits than float16 has.
std::vector<std::string> default_op_block_list();

/// Decides for a model, whose types are inferred as far as can be, what becomes float16 or
/// bfloat16. `kept` are numbers of nodes that stay in float32 whatever the config says. Reads every
/// weight that is converted once.
Float16Plan plan_float16(const Model& model, const Float16Config& config,
                         const std::set<int>& kept = {});

/// The numbers of the nodes that a plan converts and that can stay in float32 one by one, in graph
/// order.
std::vector<int> convertible_nodes(const ModelIndex& index, const Float16Plan& plan);

}  // namespace qtool
