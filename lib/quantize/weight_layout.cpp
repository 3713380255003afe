#include "quantize/weight_layout.h"

#include <algorithm>
#include <utility>

#include "model/model.h"

namespace qtool {

WeightLayout weight_layout(const onnx::NodeProto& node, std::span<const std::int64_t> shape) {
  const bool is_conv = node.op_type() == "Conv";
  if (shape.size() < 2 || (!is_conv && shape.size() > 2)) return {};
  WeightLayout out;
  out.outputs = static_cast<std::size_t>(shape[0]);
  out.summed = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 2; i < shape.size(); ++i) out.inner *= static_cast<std::size_t>(shape[i]);
  if (is_conv) {
    out.groups =
        static_cast<std::size_t>(std::max<std::int64_t>(1, int_attribute(node, "group", 1)));
  } else if (node.op_type() == "MatMul" || int_attribute(node, "transB", 0) == 0) {
    out.is_transposed = true;
    std::swap(out.outputs, out.summed);
  }
  const bool is_whole = out.outputs >= out.groups && out.outputs % out.groups == 0;
  return is_whole && out.summed > 0 ? out : WeightLayout{};
}

}  // namespace qtool
