#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "float16/model_index.h"

namespace qtool {

/// Per node, why it stays in float32 as a whole; empty where nothing says so. `kept`: further nodes
/// by number.
std::vector<std::string> block_reasons(const ModelIndex& index, const Float16Config& config,
                                       const std::set<int>& kept);

/// The names of all nodes of all graphs, in the order of the index.
std::vector<std::string> names_of_nodes(const ModelIndex& index);

}  // namespace qtool
