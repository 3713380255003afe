#include "calibrate/channel_sums.h"

#include "kernels/sum.h"
#include "model/channel_layout.h"

namespace qtool {

void ChannelSums::observe(std::span<const float> values, std::span<const std::int64_t> shape,
                          std::int64_t axis) {
  const auto channels = channel_layout(shape, axis);
  if (values.empty() || !channels) return;
  std::vector<double> sums(channels->count);
  kernels::sum_per_channel(values, *channels, sums);
  if (!set_channel_count(channels->count) || !sums_.takes(sums)) return;
  sums_.add(sums);
  values_per_channel_ += values.size() / channels->count;
}

void ChannelSums::merge(const ChannelSums& other) {
  is_ragged_ = is_ragged_ || other.is_ragged_;
  if (other.sums_.empty() || !set_channel_count(other.sums_.size())) return;
  sums_.add(other.sums_);
  values_per_channel_ += other.values_per_channel_;
}

bool ChannelSums::set_channel_count(std::size_t count) {
  if (sums_.empty()) sums_.resize(count);
  is_ragged_ = is_ragged_ || sums_.size() != count;
  return !is_ragged_;
}

std::optional<std::vector<double>> ChannelSums::means() const {
  if (is_ragged_ || values_per_channel_ == 0) return std::nullopt;
  std::vector<double> out = sums_.values();
  for (double& mean : out) mean /= static_cast<double>(values_per_channel_);
  return out;
}

std::vector<ChannelSums::Words> ChannelSums::words() const {
  return is_ragged_ ? std::vector<Words>{} : sums_.words();
}

ChannelSums ChannelSums::from(std::span<const Words> words, std::uint64_t values_per_channel,
                              bool is_ragged) {
  ChannelSums out;
  out.sums_ = FixedSums::from(words, kFractionBits);
  out.values_per_channel_ = values_per_channel;
  out.is_ragged_ = is_ragged;
  return out;
}

}  // namespace qtool
