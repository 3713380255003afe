#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "calibrate/conv_window.h"

namespace qtool {

/// The input that an operator multiplies with constant weights and sums over by channel.
struct ChannelInput {
  std::string name;
  std::int64_t axis = 1;  ///< along which its channels lie; -1: the last
  std::uint64_t channel_count = 0;
  std::string node;  ///< as messages call it: `node 'conv1' (Conv)`
  /// Of a Conv whose rows are more, or fewer, than the channels of single positions: a window of
  /// several, a stride, a border or groups.
  std::optional<ConvWindow> window;
};

/// That of a Conv, Gemm or MatMul with this weight in slot 1; nothing for other operators and for
/// weights and attributes that none takes.
std::optional<ChannelInput> channel_input(const onnx::NodeProto& node,
                                          const onnx::TensorProto& weight);

}  // namespace qtool
