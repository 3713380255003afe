#pragma once

#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// Refuses names that the model does not have, by a `Usage` error naming the key: entries of
/// node_block_list that mean no node, names in keep_io_types of no input or output.
void check_float16_names(const Model& model, const Float16Config& config);

}  // namespace qtool
