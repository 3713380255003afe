#pragma once

#include <string>

#include "preprocess/attention.h"
#include "preprocess/attention_nodes.h"
#include "preprocess/graph_editor.h"
#include "preprocess/size_flow.h"

namespace qtool {

/// Makes the masks of `attention` a number for each score, of [1 or batch, 1 or heads, queries,
/// keys]: the kernels stretch the first two axes alone. Its name; empty where there are no masks.
/// `is_contrib` tells for which operator.
std::string write_masks(GraphEditor& graph, SizeFlow& sizes, AttentionNodes& nodes,
                        const Attention& attention, bool is_contrib);

}  // namespace qtool
