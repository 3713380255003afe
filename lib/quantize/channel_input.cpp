#include "quantize/channel_input.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "model/model.h"
#include "quantize/bias_correction.h"

namespace qtool {
namespace {

bool has_other_than(const onnx::NodeProto& node, std::string_view attribute, std::int64_t value) {
  const onnx::AttributeProto* found = find_attribute(node, attribute);
  return found != nullptr &&
         std::ranges::any_of(found->ints(), [&](std::int64_t each) { return each != value; });
}

bool has_window(const onnx::NodeProto& node, const onnx::TensorProto& weight) {
  if (node.op_type() != "Conv") return false;
  const auto is_wide = [](std::int64_t size) { return size != 1; };
  return std::any_of(weight.dims().begin() + 2, weight.dims().end(), is_wide) ||
         int_attribute(node, "group", 1) != 1 || has_other_than(node, "strides", 1) ||
         has_other_than(node, "pads", 0);
}

/// Zero where the weight has a rank that the operator does not take.
std::int64_t channel_count(const onnx::NodeProto& node, const onnx::TensorProto& weight) {
  const int rank = weight.dims_size();
  if (node.op_type() == "Conv")
    return rank < 3 ? 0 : weight.dims(1) * int_attribute(node, "group", 1);
  if (node.op_type() == "Gemm")
    return rank != 2 ? 0 : weight.dims(int_attribute(node, "transB", 0) == 0 ? 0 : 1);
  return rank == 0 ? 0 : weight.dims(std::max(rank - 2, 0));
}

}  // namespace

std::optional<ChannelInput> channel_input(const onnx::NodeProto& node,
                                          const onnx::TensorProto& weight) {
  const bool is_matmul = node.op_type() == "MatMul";
  const std::int64_t axis = is_matmul ? -1 : summed_axis(node);
  if (!is_matmul && axis < 0) return std::nullopt;
  const std::int64_t channels = channel_count(node, weight);
  if (channels <= 0) return std::nullopt;
  return ChannelInput{
      .name = node.input(0),
      .axis = axis,
      .channel_count = static_cast<std::uint64_t>(channels),
      .node = fmt::format("node '{}' ({})", printable(node.name(), 100), node.op_type()),
      .has_window = has_window(node, weight)};
}

}  // namespace qtool
