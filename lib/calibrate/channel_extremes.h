#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/min_max.h"

namespace qtool {

/// The extremes of a tensor's finite values by channel, over all samples. Channels lie along axis
/// 1; a tensor with fewer axes has one channel.
class ChannelExtremes {
 public:
  /// Takes all values that the tensor has in one sample.
  void observe(std::span<const float> values, std::span<const std::int64_t> shape);
  void merge(const ChannelExtremes& other);

  /// Both 0 for a channel without a finite value; of no use where the tensor is ragged.
  std::span<const kernels::MinMax> channels() const { return channels_; }
  /// Whether samples differ in the number of channels.
  bool is_ragged() const { return is_ragged_; }

 private:
  void widen(std::span<const kernels::MinMax> seen);

  std::vector<kernels::MinMax> channels_;
  bool is_ragged_ = false;
};

}  // namespace qtool
