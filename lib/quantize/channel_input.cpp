#include "quantize/channel_input.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/text.h"
#include "model/model.h"
#include "quantize/bias_correction.h"

namespace qtool {
namespace {

/// The values of a list attribute, or as many of `fallback`.
std::vector<std::int64_t> ints_of(const onnx::NodeProto& node, std::string_view name,
                                  std::size_t count, std::int64_t fallback) {
  const onnx::AttributeProto* found = find_attribute(node, name);
  if (found == nullptr) return std::vector<std::int64_t>(count, fallback);
  return {found->ints().begin(), found->ints().end()};
}

AutoPad auto_pad_of(const onnx::NodeProto& node) {
  const std::string word = string_attribute(node, "auto_pad", "NOTSET");
  if (word == "SAME_UPPER") return AutoPad::SameUpper;
  return word == "SAME_LOWER" ? AutoPad::SameLower : AutoPad::None;
}

/// In one form, whichever of its forms the node has.
ConvWindow window_of(const onnx::NodeProto& node, const onnx::TensorProto& weight) {
  ConvWindow out;
  out.kernel.assign(weight.dims().begin() + 2, weight.dims().end());
  const std::size_t axes = out.kernel.size();
  out.strides = ints_of(node, "strides", axes, 1);
  out.dilations = ints_of(node, "dilations", axes, 1);
  for (std::size_t i = 0; i < std::min(axes, out.dilations.size()); ++i) {
    if (out.kernel[i] == 1) out.dilations[i] = 1;
  }
  out.auto_pad = auto_pad_of(node);
  const bool is_valid = string_attribute(node, "auto_pad", "NOTSET") == "VALID";
  if (is_valid) out.pads.assign(2 * axes, 0);
  if (!is_valid && out.auto_pad == AutoPad::None) out.pads = ints_of(node, "pads", 2 * axes, 0);
  out.group = int_attribute(node, "group", 1);
  return out;
}

/// Zero where the weight has a rank that the operator does not take.
std::int64_t channel_count(const onnx::NodeProto& node, const onnx::TensorProto& weight) {
  const int rank = weight.dims_size();
  if (node.op_type() == "Conv") {
    return rank < 3 ? 0 : checked_mul(weight.dims(1), int_attribute(node, "group", 1)).value_or(0);
  }
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
  ChannelInput out{
      .name = node.input(0),
      .axis = axis,
      .channel_count = static_cast<std::uint64_t>(channels),
      .node = fmt::format("node '{}' ({})", printable(node.name(), 100), node.op_type()),
      .window = {}};
  if (node.op_type() != "Conv") return out;
  ConvWindow window = window_of(node, weight);
  if (!window.is_possible()) return std::nullopt;
  if (!window.is_single_positions()) out.window = std::move(window);
  return out;
}

}  // namespace qtool
