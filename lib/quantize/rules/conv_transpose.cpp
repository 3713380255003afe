#include "quantize/op_rules.h"

namespace qtool {

/// The weight is [in, out / group, …]: each of its channel scales serves one output channel of
/// every group.
OpRule refine_conv_transpose(OpRule row, const NodeContext& context) {
  row.bias_groups = int_attribute(context.node, "group", 1);
  return row;
}

}  // namespace qtool
