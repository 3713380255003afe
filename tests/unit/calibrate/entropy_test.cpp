#include "calibrate/entropy.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.h"
#include "density_samples.h"
#include "error_text.h"

namespace qtool {
using testing::activation_like;
using testing::density_of;
using testing::error_text;
using testing::given;

namespace {

/// The divergence of a slice, term by term as the definition says (docs/numerics.md, "Entropy").
double defined(const std::vector<double>& counts, BinSlice slice, std::size_t levels) {
  const std::size_t length = slice.end - slice.begin;
  std::vector<double> p(counts.begin() + static_cast<std::ptrdiff_t>(slice.begin),
                        counts.begin() + static_cast<std::ptrdiff_t>(slice.end));
  const std::vector<double> inside = p;
  if (std::accumulate(inside.begin(), inside.end(), 0.0) == 0)
    return std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < slice.begin; ++i) p.front() += counts[i];
  for (std::size_t i = slice.end; i < counts.size(); ++i) p.back() += counts[i];
  std::vector<double> q(length, 0.0);
  for (std::size_t level = 0; level < levels; ++level) {
    double count = 0;
    double filled = 0;
    const std::size_t begin = level * length / levels;
    const std::size_t end = (level + 1) * length / levels;
    for (std::size_t i = begin; i < end; ++i) {
      count += inside[i];
      filled += p[i] > 0 ? 1 : 0;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (p[i] > 0) q[i] = count > 0 ? count / filled : 1e-4;
  }
  const double p_sum = std::accumulate(p.begin(), p.end(), 0.0);
  const double q_sum = std::accumulate(q.begin(), q.end(), 0.0);
  double out = 0;
  for (std::size_t i = 0; i < length; ++i)
    if (p[i] > 0) out += p[i] * std::log(p[i] / q[i]);
  return (out - p_sum + q_sum) / p_sum;
}

struct Best {
  BinSlice slice;
  double divergence = std::numeric_limits<double>::infinity();
};

Best best_by_definition(const LinearHistogram& h, std::size_t levels) {
  Best best;
  const std::size_t bins = h.counts.size();
  levels = std::min(levels, bins);
  for (std::size_t i = 0; i <= std::max(h.middle_low, bins - h.middle_high); ++i) {
    const BinSlice slice{h.middle_low - std::min(i, h.middle_low),
                         std::min(h.middle_high + i, bins)};
    if (slice.end - slice.begin < levels) continue;
    const double value = defined(h.counts, slice, levels);
    if (value < best.divergence - 1e-10) best = {slice, value};
  }
  return best;
}

Density one_bin(float low, float high) {
  return {.bins = {{low, high, 1000}}, .min = low, .max = high, .count = 1000};
}

}  // namespace

TEST_CASE("entropy: the range is the one of least divergence by definition", "[calibrate]") {
  struct Size {
    std::size_t bins;
    std::size_t levels;
  };
  for (const auto& [name, values] : activation_like(20000)) {
    const Density density = density_of(values);
    for (const auto [bins, levels] : {Size{512, 128}, Size{501, 64}, Size{130, 100}, Size{64, 3}}) {
      for (const bool is_symmetric : {false, true}) {
        CAPTURE(name, bins, levels, is_symmetric);
        const LinearHistogram histogram = linear_histogram(density, bins, is_symmetric);
        const Best wanted = best_by_definition(histogram, levels);
        const BinSlice found = least_divergence(histogram, levels);
        CHECK(found == wanted.slice);
      }
    }
  }
}

TEST_CASE("entropy: the histogram holds every value but zeros, each in its bin", "[calibrate]") {
  const Density density{
      .bins = {{-2, -1, 8}, {0, 0, 100}, {0, 4, 16}}, .min = -2, .max = 4, .count = 124};
  CHECK(linear_histogram(density, 8, true).counts == std::vector<double>{0, 0, 8, 0, 4, 4, 4, 4});
  const LinearHistogram cut = linear_histogram(density, 8, false);
  CHECK(cut.counts == std::vector<double>{8, 0, 4, 4, 4, 4});
  CHECK(cut.zero == 2);
  CHECK(cut.middle_low == 2);
}

TEST_CASE("entropy: values on one side of zero use all bins and levels on that side",
          "[calibrate]") {
  const LinearHistogram above = linear_histogram(one_bin(0, 4), 8, false);
  CHECK(above.counts == std::vector<double>(8, 125.0));
  CHECK(above.middle_low == 0);
  const LinearHistogram below = linear_histogram(one_bin(-4, 0), 8, false);
  CHECK(below.counts == std::vector<double>(8, 125.0));
  CHECK(below.middle_high == 8);
}

TEST_CASE("entropy: a long thin tail is cut, the extremes are never exceeded", "[calibrate]") {
  Density density = one_bin(-1, 1);
  density.bins[0].count = 1000000;
  density.bins.push_back({1, 100, 10});
  density.max = 100;
  density.count = 1000010;
  const Range range = given(entropy_range(density, {}));
  CHECK(range.min == -1);
  CHECK(range.max < 50);
  CHECK(range.max >= 1);
  CalibrationConfig config;
  config.symmetric = true;
  const Range symmetric = given(entropy_range(density, config));
  CHECK(symmetric.min == -symmetric.max);
  CHECK(symmetric.max < 50);
}

TEST_CASE("entropy: data of few values is not cut down to the first of them", "[calibrate]") {
  // Pixels of 17 shades: a slice that holds one shade alone has the shape of what is left of it.
  Density shades{.bins = {}, .min = 1, .max = 16, .count = 1600};
  for (int shade = 1; shade <= 16; ++shade) {
    const auto value = static_cast<float>(shade);
    shades.bins.push_back({value, value, 100});
  }
  CHECK(given(entropy_range(shades, {})).max > 15);
}

TEST_CASE("entropy: data of one value keeps it", "[calibrate]") {
  const Density spike{.bins = {{0, 0, 50}, {3, 3, 50}}, .min = 0, .max = 3, .count = 100};
  CHECK(entropy_range(spike, {}) == Range{0, 3});
  const Density zeros{.bins = {{0, 0, 7}}, .min = 0, .max = 0, .count = 7};
  CHECK(entropy_range(zeros, {}) == Range{0, 0});
  CHECK_FALSE(entropy_range({}, {}).has_value());
}

TEST_CASE("entropy: fewer bins than levels are refused", "[calibrate]") {
  CalibrationConfig config;
  config.num_bins = 64;
  CHECK(error_text([&] { entropy_range(one_bin(0, 1), config); }) ==
        "calibration.num_bins: 64, expected no fewer than calibration.num_quantized_bins (128)");
}

TEST_CASE("entropy: 2048 bins take milliseconds, not seconds", "[calibrate]") {
  std::vector<Density> densities;
  for (const auto& [name, values] : activation_like(100000))
    densities.push_back(density_of(values));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i)
    for (const auto& density : densities) entropy_range(density, {});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  // 60 tensors take 0.02 s; the direct evaluation takes more than 10 s.
  CHECK(taken.count() < 2);
}

}  // namespace qtool
