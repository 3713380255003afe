#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/expression.h"
#include "preprocess/graph_editor.h"
#include "preprocess/size_flow.h"

namespace qtool {

/// The queries, keys or values of an attention in the forms in which the graph has them, each with
/// the number that it is still to be multiplied with; empty where there is none.
struct AttentionOperand {
  Scaled split;   ///< [batch, heads, length, size]
  Scaled apart;   ///< [batch, length, heads, size]
  Scaled joined;  ///< [batch, length, heads * size]
};

/// What is added to the scores, or decides which of them are replaced by a large negative number.
struct AttentionMask {
  enum class Kind { Added, KeptWhereTrue, KeptWhereFalse };
  Kind kind = Kind::Added;
  std::string value;  ///< broadcasts to the scores; boolean unless it is added
  double number = 0;  ///< that stands for what is not kept
};

/// softmax(scale * Q K^T + masks) V
struct Attention {
  std::string scores;  ///< Q K^T, not yet scaled
  int softmax = -1;    ///< its node; all but the values is made before
  int product = -1;    ///< the node that multiplies with V
  int transpose = -1;  ///< behind that, to [batch, length, heads, size], or -1
  int reshape = -1;    ///< behind that, or -1
  AttentionOperand q, k, v;
  std::vector<AttentionMask> masks;  ///< in the order in which they come
  double scale = 1;                  ///< without the factors of q and k
  int rank = 4;                      ///< of the scores; with 3 the heads are part of the batch
  std::int64_t heads = 1;            ///< 1 where they are part of the batch
  std::int64_t size = 0;             ///< of a head's queries and keys
  std::int64_t value_size = 0;
};

/// What stands around a Softmax.
struct AttentionSearch {
  std::optional<Attention> found;
  std::string obstacle;  ///< why an attention cannot be written as one operator
};

/// The attention around the Softmax at `index`. `sizes` has visited the whole graph.
AttentionSearch find_attention(const GraphEditor& graph, SizeFlow& sizes, int index);

}  // namespace qtool
