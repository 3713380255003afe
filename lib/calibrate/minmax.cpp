#include "calibrate/minmax.h"

#include <algorithm>
#include <cmath>

namespace qtool {
namespace {

Range symmetric(Range range) {
  const float end = std::max(std::abs(range.min), std::abs(range.max));
  return {-end, end};
}

Range mean(const ExactSum& minima, const ExactSum& maxima, std::uint64_t samples) {
  const auto count = static_cast<double>(samples);
  return {static_cast<float>(minima.value() / count), static_cast<float>(maxima.value() / count)};
}

Range mean_of(std::span<const SampleExtremes> samples) {
  ExactSum minima, maxima;
  for (const SampleExtremes& sample : samples) {
    minima.add(static_cast<double>(sample.min));
    maxima.add(static_cast<double>(sample.max));
  }
  return mean(minima, maxima, samples.size());
}

/// In float32, as the ranges there are.
Range moved(const Range& from, const Range& to, double constant) {
  const auto share = static_cast<float>(constant);
  return {from.min + share * (to.min - from.min), from.max + share * (to.max - from.max)};
}

/// The mean of each stride, and of these the average in which each new one has the weight of the
/// constant.
Range strided_average(std::span<const SampleExtremes> samples, const CalibrationConfig& config) {
  const auto stride = static_cast<std::uint64_t>(*config.stride);
  std::optional<Range> out;
  while (!samples.empty()) {
    const std::uint64_t end = (samples.front().sample / stride + 1) * stride;
    const auto count = static_cast<std::size_t>(
        std::ranges::lower_bound(samples, end, {}, &SampleExtremes::sample) - samples.begin());
    Range next = mean_of(samples.first(count));
    if (config.symmetric) next = symmetric(next);
    out = out ? moved(*out, next, config.averaging_constant) : next;
    samples = samples.subspan(count);
  }
  return out.value_or(Range{});
}

}  // namespace

bool needs_sample_extremes(const CalibrationConfig& config) {
  return config.method == CalibrationMethod::MinMax && config.moving_average && config.stride;
}

std::optional<Range> minmax_range(const TensorStatistics& statistics,
                                  const CalibrationConfig& config) {
  if (statistics.value_count == 0) return std::nullopt;
  if (needs_sample_extremes(config)) return strided_average(statistics.sample_extremes, config);
  Range out{statistics.min.value, statistics.max.value};
  if (config.moving_average) {
    out = mean(statistics.sum_of_minima, statistics.sum_of_maxima, statistics.sample_count);
  }
  return config.symmetric ? symmetric(out) : out;
}

}  // namespace qtool
