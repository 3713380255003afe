#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

/// The input that an operator multiplies with constant weights and sums over by channel.
struct ChannelInput {
  std::string name;
  std::int64_t axis = 1;  ///< along which its channels lie; -1: the last
  std::uint64_t channel_count = 0;
  std::string node;  ///< as messages call it: `node 'conv1' (Conv)`
  /// What a Conv sees of one row is more, or fewer, than the channels of one position: a window of
  /// several, a stride, a border or groups.
  bool has_window = false;
};

/// That of a Conv, Gemm or MatMul with this weight in slot 1; nothing for other operators and for
/// weights of a rank that none takes.
std::optional<ChannelInput> channel_input(const onnx::NodeProto& node,
                                          const onnx::TensorProto& weight);

}  // namespace qtool
