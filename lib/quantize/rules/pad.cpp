#include "quantize/op_rules.h"

namespace qtool {
namespace {

/// The value that a constant Pad fills in, or nothing where it is computed.
std::optional<float> fill_value(const NodeContext& context) {
  const auto& node = context.node;
  if (context.opset < 11) return float_attribute(node, "value", 0.0F);
  if (node.input_size() < 3 || node.input(2).empty()) return 0.0F;
  const onnx::TensorProto* value = context.graph.initializer(node.input(2));
  if (value == nullptr) return std::nullopt;
  const std::vector<float> values = to_float32(context.model.tensor(*value));
  return values.empty() ? std::nullopt : std::optional(values.front());
}

}  // namespace

/// Padding with values of the input, or with the zero that every quantized range holds exactly,
/// only moves values.
OpRule refine_pad(OpRule row, const NodeContext& context) {
  const bool repeats_input = string_attribute(context.node, "mode", "constant") != "constant";
  const std::optional<float> fill = repeats_input ? std::optional(0.0F) : fill_value(context);
  row.outputs = fill == 0.0F ? OutputParams::SharedWithInput : OutputParams::Own;
  return row;
}

}  // namespace qtool
