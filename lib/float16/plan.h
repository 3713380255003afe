#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/element_type.h"
#include "model/narrowing.h"

namespace qtool {

/// What a place of a graph takes or gives where float32 stood.
enum class Form : std::uint8_t {
  Untouched,  ///< no float32 stood there
  Either,     ///< a reader that takes both types
  Float,
  Short,  ///< float16 or bfloat16
};

/// A value that is float32 in the input model, by its number in the ModelIndex.
struct PlannedValue {
  std::string name;
  Form home = Form::Untouched;  ///< as it is made; Untouched: is no float32 tensor
  bool is_constant = false;     ///< an initializer or a Constant node: stored in each type wanted
  bool wants_float = false, wants_short = false;  ///< by readers and outputs
  /// Made by a Cast of a value that has the target type: readers that want that read the source.
  bool is_widened_short = false;
};

struct PlannedNode {
  std::vector<Form> inputs, outputs;
};

/// A node that computes in float32, and why; a node of which only a part does is not among them.
struct FloatNode {
  std::string node;  ///< its name, or its first output
  std::string op_type;
  std::string reason;
};

/// A weight with values that the short type does not have.
struct ClampedWeight {
  std::string name;
  ClampedValues values;
};

/// What becomes of each float32 tensor of a model, and of each node. Made for one model, by the
/// numbers of its ModelIndex.
struct Float16Plan {
  Narrowing narrowing;
  std::vector<PlannedValue> values;
  std::vector<PlannedNode> nodes;
  std::vector<std::vector<Form>> graph_outputs;  ///< per graph and output
  std::vector<FloatNode> left;
  std::vector<ClampedWeight> clamped;
  std::size_t short_nodes = 0;  ///< that take or give the short type where float32 stood
  std::size_t casts_added = 0;  ///< by the lowering: to the other form of a value
};

/// One line per float32 value in graph order, then one per node that stays in float32.
std::string to_text(const Float16Plan& plan);

}  // namespace qtool
