#include <cstdint>
#include <limits>

#include "quantize/op_rules.h"

namespace qtool {
namespace {

bool is_constant(const NodeContext& context, int slot) {
  return slot < context.node.input_size() &&
         context.graph.initializer(context.node.input(slot)) != nullptr;
}

bool is_matrix(const NodeContext& context, int slot) {
  return context.graph.initializer(context.node.input(slot))->dims_size() == 2;
}

}  // namespace

/// The kernel that reads and gives integers knows the columns of one matrix. A vector has none, and
/// many matrices have too many: they get one scale.
OpRule refine_integer_matmul(OpRule row, const NodeContext& context) {
  constexpr std::int8_t kNoAxis = std::numeric_limits<std::int8_t>::max();
  if (is_constant(context, 1) && !is_matrix(context, 1)) row.inputs[1].channel_axis = kNoAxis;
  return row;
}

}  // namespace qtool
