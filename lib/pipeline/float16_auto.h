#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// What a search for the nodes that must stay in float32 found.
struct Float16Search {
  std::set<int> kept;           ///< numbers of nodes
  std::size_t trial_count = 0;  ///< models that were converted and run
  std::size_t sample_count = 0;
  bool was_cut_short = false;  ///< not every node was tried by itself
};

/// Finds nodes of `model`, whose types are inferred, that stay in float32 so that every output is
/// within the tolerances of `float16.auto` on all samples: halves of the graph are converted in
/// turn, each beside what was found good before. The same for the same model and samples.
Float16Search search_float16(const Model& model, const Config& config,
                             const std::function<void(const std::string&)>& log);

/// Refuses a search without samples: a `Usage` error.
void require_search_data(const Config& config);

}  // namespace qtool
