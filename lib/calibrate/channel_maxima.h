#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qtool {

/// The largest magnitude of each channel of a tensor. Values that are not finite count for nothing.
class ChannelMaxima {
 public:
  /// Takes values that the tensor has in one sample, with channels along `axis`, -1 for the last.
  void observe(std::span<const float> values, std::span<const std::int64_t> shape,
               std::int64_t axis);
  void merge(const ChannelMaxima& other);
  /// Empty where there are no values, or where samples differ in the number of channels.
  std::vector<float> maxima() const { return is_ragged_ ? std::vector<float>{} : maxima_; }
  static ChannelMaxima from(std::vector<float> maxima, bool is_ragged);

  friend bool operator==(const ChannelMaxima& a, const ChannelMaxima& b) {
    return a.is_ragged_ == b.is_ragged_ && a.maxima() == b.maxima();
  }

 private:
  bool set_channel_count(std::size_t count);

  std::vector<float> maxima_;
  bool is_ragged_ = false;
};

}  // namespace qtool
