#include "calibrate/channel_sums.h"

#include <algorithm>
#include <cmath>

#include "kernels/sum.h"

namespace qtool {
namespace {

constexpr double kUnit = 0x1p-40;
/// Sums beyond it, of values that no float model has, would leave the 128 bits.
constexpr double kLargest = 0x1p80;

std::size_t product(std::span<const std::int64_t> sizes) {
  std::size_t out = 1;
  for (const std::int64_t size : sizes) out *= static_cast<std::size_t>(size);
  return out;
}

}  // namespace

void ChannelSums::observe(std::span<const float> values, std::span<const std::int64_t> shape,
                          std::int64_t axis) {
  if (values.empty() || axis >= static_cast<std::int64_t>(shape.size())) return;
  const auto at = static_cast<std::size_t>(axis);
  const kernels::Channels channels{.outer = product(shape.first(at)),
                                   .count = static_cast<std::size_t>(shape[at]),
                                   .inner = product(shape.subspan(at + 1))};
  std::vector<double> sums(channels.count);
  kernels::sum_per_channel(values, channels, sums);
  const auto is_usable = [](double sum) { return std::abs(sum) < kLargest; };
  if (!set_channel_count(channels.count) || !std::ranges::all_of(sums, is_usable)) return;
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums_[i] += static_cast<Int128>(std::nearbyint(sums[i] / kUnit));
  values_per_channel_ += values.size() / channels.count;
}

void ChannelSums::merge(const ChannelSums& other) {
  is_ragged_ = is_ragged_ || other.is_ragged_;
  if (other.sums_.empty() || !set_channel_count(other.sums_.size())) return;
  // Without a sign, where sums that a table made up would overflow.
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] =
        static_cast<Int128>(static_cast<UInt128>(sums_[i]) + static_cast<UInt128>(other.sums_[i]));
  }
  values_per_channel_ += other.values_per_channel_;
}

bool ChannelSums::set_channel_count(std::size_t count) {
  if (sums_.empty()) sums_.resize(count);
  is_ragged_ = is_ragged_ || sums_.size() != count;
  return !is_ragged_;
}

std::optional<std::vector<double>> ChannelSums::means() const {
  if (is_ragged_ || values_per_channel_ == 0) return std::nullopt;
  std::vector<double> out;
  for (const Int128 sum : sums_)
    out.push_back(static_cast<double>(sum) * kUnit / static_cast<double>(values_per_channel_));
  return out;
}

std::vector<ChannelSums::Words> ChannelSums::words() const {
  std::vector<Words> out;
  if (is_ragged_) return out;
  for (const Int128 sum : sums_)
    out.push_back({static_cast<std::int64_t>(sum >> 64), static_cast<std::uint64_t>(sum)});
  return out;
}

ChannelSums ChannelSums::from(std::span<const Words> words, std::uint64_t values_per_channel,
                              bool is_ragged) {
  ChannelSums out;
  for (const Words& word : words) {
    out.sums_.push_back(
        static_cast<Int128>(static_cast<UInt128>(static_cast<Int128>(word.high)) << 64 | word.low));
  }
  out.values_per_channel_ = values_per_channel;
  out.is_ragged_ = is_ragged;
  return out;
}

}  // namespace qtool
