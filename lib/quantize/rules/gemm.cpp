#include "quantize/op_rules.h"

namespace qtool {

/// Output channels of B are its rows when transB is set, its columns otherwise. The bias counts
/// beta times.
OpRule refine_gemm(OpRule row, const NodeContext& context) {
  row.inputs[1].channel_axis = int_attribute(context.node, "transB", 0) != 0 ? 0 : 1;
  row.bias_factor = float_attribute(context.node, "beta", 1.0F);
  return row;
}

}  // namespace qtool
