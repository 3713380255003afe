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
  bool is_empty() const { return channels_.empty() && !is_ragged_; }
  /// Extremes that say this of themselves; of a channel without values `finite_count` is 0.
  static ChannelExtremes from(std::vector<kernels::MinMax> channels, bool is_ragged);

  /// Whether they say the same; how many values there were, they do not.
  friend bool operator==(const ChannelExtremes& a, const ChannelExtremes& b);

 private:
  void widen(std::span<const kernels::MinMax> seen);

  std::vector<kernels::MinMax> channels_;
  bool is_ragged_ = false;
};

}  // namespace qtool
