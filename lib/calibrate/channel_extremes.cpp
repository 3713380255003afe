#include "calibrate/channel_extremes.h"

#include <algorithm>
#include <utility>

namespace qtool {
namespace {

kernels::Channels channels_of(std::span<const float> values, std::span<const std::int64_t> shape) {
  if (shape.size() < 2) return {.outer = 1, .count = 1, .inner = values.size()};
  const auto outer = static_cast<std::size_t>(shape[0]);
  const auto count = static_cast<std::size_t>(shape[1]);
  return {.outer = outer, .count = count, .inner = values.size() / (outer * count)};
}

void widen(kernels::MinMax& sum, const kernels::MinMax& seen) {
  if (seen.finite_count > 0) {
    sum.min = sum.finite_count > 0 ? std::min(sum.min, seen.min) : seen.min;
    sum.max = sum.finite_count > 0 ? std::max(sum.max, seen.max) : seen.max;
  }
  sum.finite_count += seen.finite_count;
  sum.nonfinite_count += seen.nonfinite_count;
}

}  // namespace

void ChannelExtremes::observe(std::span<const float> values, std::span<const std::int64_t> shape) {
  if (values.empty()) return;
  const kernels::Channels channels = channels_of(values, shape);
  std::vector<kernels::MinMax> seen(channels.count);
  kernels::min_max_per_channel(values, channels, seen);
  widen(seen);
}

void ChannelExtremes::merge(const ChannelExtremes& other) {
  is_ragged_ = is_ragged_ || other.is_ragged_;
  widen(other.channels_);
}

ChannelExtremes ChannelExtremes::from(std::vector<kernels::MinMax> channels, bool is_ragged) {
  ChannelExtremes out;
  out.channels_ = std::move(channels);
  out.is_ragged_ = is_ragged;
  return out;
}

bool operator==(const ChannelExtremes& a, const ChannelExtremes& b) {
  if (a.is_ragged_ || b.is_ragged_) return a.is_ragged_ == b.is_ragged_;
  const auto is_same = [](const kernels::MinMax& x, const kernels::MinMax& y) {
    return x.min == y.min && x.max == y.max && (x.finite_count > 0) == (y.finite_count > 0);
  };
  return std::ranges::equal(a.channels_, b.channels_, is_same);
}

void ChannelExtremes::widen(std::span<const kernels::MinMax> seen) {
  if (seen.empty()) return;
  if (channels_.empty()) channels_.resize(seen.size());
  is_ragged_ = is_ragged_ || channels_.size() != seen.size();
  if (is_ragged_) return;
  for (std::size_t i = 0; i < seen.size(); ++i) qtool::widen(channels_[i], seen[i]);
}

}  // namespace qtool
