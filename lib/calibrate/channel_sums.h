#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/fixed_sums.h"

namespace qtool {

/// Sums of a tensor's values by channel, from which their means follow. Sums are multiples of
/// 2^-40 in 128 bits: to merge them is exact, and 16 bytes a channel are little beside the tensor.
class ChannelSums {
 public:
  /// Takes all values that the tensor has in one sample, with channels along `axis`, -1 for the
  /// last; its sum over a channel is rounded to a multiple of 2^-40. A sample with values that are
  /// not finite is left out.
  void observe(std::span<const float> values, std::span<const std::int64_t> shape,
               std::int64_t axis);
  void merge(const ChannelSums& other);
  /// The mean of each channel over all values of all samples. Nothing where there is none, or where
  /// samples differ in the number of channels.
  std::optional<std::vector<double>> means() const;

  using Words = FixedSums::Words;
  /// Multiples of 2^-40. Empty, with no values, where samples differ in the number of channels.
  std::vector<Words> words() const;
  std::uint64_t values_per_channel() const { return is_ragged_ ? 0 : values_per_channel_; }
  bool is_ragged() const { return is_ragged_; }
  /// The sums that say this of themselves.
  static ChannelSums from(std::span<const Words> words, std::uint64_t values_per_channel,
                          bool is_ragged);

  friend bool operator==(const ChannelSums& a, const ChannelSums& b) {
    return a.is_ragged_ == b.is_ragged_ && a.values_per_channel() == b.values_per_channel() &&
           (a.is_ragged_ || a.sums_ == b.sums_);
  }

 private:
  static constexpr int kFractionBits = 40;

  bool set_channel_count(std::size_t count);

  FixedSums sums_{kFractionBits};
  std::uint64_t values_per_channel_ = 0;
  bool is_ragged_ = false;
};

}  // namespace qtool
