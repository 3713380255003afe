#include "quantize/op_rules.h"

namespace qtool {

/// ONNX Runtime's CPU provider picks integers, and interpolates floats.
std::string resize_obstacle(const NodeContext& context, RuntimeSet runtimes) {
  const bool picks =
      string_attribute(context.node, "mode", "nearest") == "nearest" &&
      string_attribute(context.node, "coordinate_transformation_mode", "") != "tf_crop_and_resize";
  return picks || (runtimes & kCpuProvider) == 0 ? "" : "interpolates, which is done in float";
}

}  // namespace qtool
