#include "calibrate/channel_maxima.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/channel_layout.h"

namespace qtool {
namespace {

float largest_magnitude(std::span<const float> values) {
  float out = 0;
  for (const float value : values) {
    const float magnitude = std::abs(value);
    if (magnitude > out && std::isfinite(magnitude)) out = magnitude;
  }
  return out;
}

}  // namespace

void ChannelMaxima::observe(std::span<const float> values, std::span<const std::int64_t> shape,
                            std::int64_t axis) {
  const auto channels = channel_layout(shape, axis);
  if (values.empty() || !channels || !set_channel_count(channels->count)) return;
  for (std::size_t piece = 0; piece < channels->outer * channels->count; ++piece) {
    float& maximum = maxima_[piece % channels->count];
    maximum = std::max(maximum,
                       largest_magnitude(values.subspan(piece * channels->inner, channels->inner)));
  }
}

void ChannelMaxima::merge(const ChannelMaxima& other) {
  is_ragged_ = is_ragged_ || other.is_ragged_;
  if (other.maxima_.empty() || !set_channel_count(other.maxima_.size())) return;
  for (std::size_t i = 0; i < maxima_.size(); ++i)
    maxima_[i] = std::max(maxima_[i], other.maxima_[i]);
}

bool ChannelMaxima::set_channel_count(std::size_t count) {
  if (maxima_.empty()) maxima_.resize(count);
  is_ragged_ = is_ragged_ || maxima_.size() != count;
  return !is_ragged_;
}

ChannelMaxima ChannelMaxima::from(std::vector<float> maxima, bool is_ragged) {
  ChannelMaxima out;
  out.maxima_ = std::move(maxima);
  out.is_ragged_ = is_ragged;
  return out;
}

}  // namespace qtool
