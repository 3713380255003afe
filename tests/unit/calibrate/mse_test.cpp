#include "calibrate/mse.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "calibrate/cumulative_count.h"
#include "catch.h"
#include "density_samples.h"

namespace qtool {

using testing::activation_like;
using testing::density_of;
using testing::given;

namespace {

constexpr QuantizedLevels kUInt8{0, 255, 0, 255, false};
constexpr QuantizedLevels kInt8{-127, 127, -128, 127, true};
constexpr QuantizedLevels kUInt4{0, 15, 0, 15, false};
constexpr QuantizedLevels kInt16{-32768, 32767, -32768, 32767, false};

double squared_error(const std::vector<float>& values, Range range, const QuantizedLevels& levels) {
  const LinearGrid grid = linear_grid(range, levels);
  double sum = 0;
  for (const float value : values) {
    const double x = value;
    const double level = std::nearbyint(x / grid.scale) * static_cast<double>(grid.scale);
    const double error = x - std::clamp(level, grid.lowest, grid.highest);
    sum += error * error;
  }
  return sum / static_cast<double>(values.size());
}

/// Shares of an end: dense near the extreme, then down to a hundredth.
std::vector<float> shares(int count) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    out.push_back(std::pow(0.01F, static_cast<float>(i) / static_cast<float>(count - 1)));
  return out;
}

/// The least squared error over all values of any range that is tried.
double least_by_trial(const std::vector<float>& values, Range full, const QuantizedLevels& levels,
                      bool is_symmetric) {
  double least = std::numeric_limits<double>::infinity();
  const auto try_range = [&](float low, float high) {
    least = std::min(least, squared_error(values, {low, high}, levels));
  };
  const float largest = std::max(std::abs(full.min), std::abs(full.max));
  const bool is_one_sided = full.min >= 0 || full.max <= 0;
  if (is_symmetric || is_one_sided) {
    for (const float share : shares(200))
      try_range((is_symmetric ? -largest : full.min) * share,
                (is_symmetric ? largest : full.max) * share);
    return least;
  }
  for (const float a : shares(30))
    for (const float b : shares(30)) try_range(full.min * a, full.max * b);
  return least;
}

}  // namespace

TEST_CASE("mse: no range of those tried has an error less by more than 1 %", "[calibrate]") {
  for (const auto& [name, values] : activation_like(5000)) {
    const Density density = density_of(values);
    for (const auto& levels : {kUInt8, kInt8, kUInt4, kInt16}) {
      for (const bool is_symmetric : {false, true}) {
        // Of (-t, t) over 16 levels the zero point is a tie: 7 or 8, as the last bit of t will.
        if (is_symmetric && levels.spread_max == kUInt4.spread_max) continue;
        const Range found = given(mse_range(density, {levels, is_symmetric}));
        CAPTURE(name, levels.spread_max, is_symmetric, found.min, found.max);
        const double least = least_by_trial(values, {density.min, density.max}, levels,
                                            is_symmetric || levels.is_symmetric);
        // A density says to 0.1 % or so where a value is; less error than that leaves is luck.
        const double blur = 1e-8 * std::pow(largest_magnitude(density), 2);
        CHECK(squared_error(values, found, levels) <= 1.01 * least + blur);
      }
    }
  }
}

TEST_CASE("mse: ranges stay within the extremes; symmetric ones are", "[calibrate]") {
  for (const auto& [name, values] : activation_like(5000)) {
    CAPTURE(name);
    const Density density = density_of(values);
    const Range plain = given(mse_range(density, {kUInt8, false}));
    CHECK(plain.min >= density.min);
    CHECK(plain.max <= density.max);
    CHECK(plain.min <= plain.max);
    const Range symmetric = given(mse_range(density, {kInt8, true}));
    CHECK(symmetric.min == -symmetric.max);
    CHECK(symmetric.max <= static_cast<float>(largest_magnitude(density)));
  }
}

TEST_CASE("mse: fewer levels cut more", "[calibrate]") {
  const Density density = density_of(activation_like(100000).front().values);
  CHECK(given(mse_range(density, {kUInt4, false})).max <
        given(mse_range(density, {kUInt8, false})).max);
  CHECK(given(mse_range(density, {kInt16, false})).max > 0.95F * density.max);
}

TEST_CASE("mse: zeros alone and a single value keep their range", "[calibrate]") {
  const Density zeros{.bins = {{0, 0, 7}}, .min = 0, .max = 0, .count = 7};
  CHECK(mse_range(zeros, {kUInt8, false}) == Range{0, 0});
  const Density one{.bins = {{3, 3, 7}}, .min = 3, .max = 3, .count = 7};
  CHECK(mse_range(one, {kUInt8, false}) == Range{3, 3});
  CHECK_FALSE(mse_range({}, {kUInt8, false}).has_value());
}

TEST_CASE("mse: takes a fraction of a millisecond per tensor", "[calibrate]") {
  std::vector<Density> densities;
  for (const auto& [name, values] : activation_like(100000))
    densities.push_back(density_of(values));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i)
    for (const auto& density : densities) mse_range(density, {kUInt8, false});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  // 60 tensors take 0.01 s.
  CHECK(taken.count() < 2);
}

}  // namespace qtool
