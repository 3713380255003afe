#include "quantize/op_rules.h"

namespace qtool {
namespace {

bool is_constant(const NodeContext& context, int slot) {
  return slot < context.node.input_size() &&
         context.graph.initializer(context.node.input(slot)) != nullptr;
}

}  // namespace

/// ONNX Runtime's kernel that gives floats takes scales of channels only with a matrix as second
/// input: a model with others loads, and no run of it succeeds.
OpRule refine_matmul(OpRule row, const NodeContext& context) {
  const auto is_matrix = [&](int slot) {
    return context.graph.initializer(context.node.input(slot))->dims_size() == 2;
  };
  row.channels_give_integers =
      is_constant(context, 0) || (is_constant(context, 1) && !is_matrix(1));
  return row;
}

}  // namespace qtool
