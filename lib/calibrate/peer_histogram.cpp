#include "calibrate/peer_histogram.h"

#include <algorithm>
#include <cmath>

namespace qtool {
namespace {

/// A factor, 1 in all but the largest ranges, that keeps high - low from overflowing.
float shrink(float low, float high) { return std::isfinite(high - low) ? 1.0F : 0.5F; }

/// numpy's linspace in float32.
std::vector<float> equal_edges(float low, float high, std::size_t bins) {
  const auto divisor = static_cast<float>(bins);
  const float factor = shrink(low, high);
  const float length = high * factor - low * factor;
  const float step = length / divisor;
  std::vector<float> out(bins + 1);
  for (std::size_t k = 0; k < bins; ++k) {
    const auto index = static_cast<float>(k);
    // A step that underflows would put every edge on the first.
    const float offset = step != 0 ? index * step : index / divisor * length;
    out[k] = (offset + low * factor) / factor;
  }
  out[bins] = high;
  return out;
}

}  // namespace

PeerHistogram::PeerHistogram(const PeerExtremes& extremes, Of of, std::size_t bins)
    : extremes_(extremes), of_(of), counts_(bins) {
  low_ = of == Of::Values ? -extremes.max_magnitude : extremes.min_magnitude;
  high_ = extremes.max_magnitude;
  if (low_ == high_) {
    low_ -= 0.5F;
    high_ += 0.5F;
  }
  factor_ = shrink(low_, high_);
  edges_ = equal_edges(low_, high_, bins);
}

void PeerHistogram::count(float value) {
  if (!(value >= low_ && value <= high_)) return;
  const auto bins = static_cast<std::int64_t>(counts_.size());
  const float share = (value * factor_ - low_ * factor_) / (high_ * factor_ - low_ * factor_);
  const float place = share * static_cast<float>(bins);
  // Not above 0 also where half is nothing beside large ends, and the share is 0 / 0.
  auto index = place > 0 ? std::min(static_cast<std::int64_t>(place), bins - 1) : 0;
  // The division rounds: numpy looks at the edges once more, and so each bin is [edge, next edge).
  if (value < edges_[static_cast<std::size_t>(index)]) --index;
  if (index != bins - 1 && value >= edges_[static_cast<std::size_t>(index + 1)]) ++index;
  ++counts_[static_cast<std::size_t>(index)];
}

void PeerHistogram::observe(std::span<const float> values) {
  const bool is_signed = of_ == Of::Values;
  for (const float value : values) count(is_signed ? value : std::abs(value));
}

void PeerHistogram::merge(const PeerHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

}  // namespace qtool
