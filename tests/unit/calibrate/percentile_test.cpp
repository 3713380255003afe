#include "calibrate/percentile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "density_samples.h"

namespace qtool {
using testing::activation_like;
using testing::density_of;
using testing::given;

namespace {

/// The least value that `share` of the sorted values do not exceed.
float exact(const std::vector<float>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank - 1, 0.0))];
}

std::vector<float> sorted(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<float> sorted_magnitudes(std::vector<float> values) {
  for (float& value : values) value = std::abs(value);
  return sorted(std::move(values));
}

/// Within 0.5 % of the exact percentile, or between the two values around it.
void check_near(float found, const std::vector<float>& sorted, double share) {
  const float wanted = exact(sorted, share);
  const auto next = std::upper_bound(sorted.begin(), sorted.end(), wanted);
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), wanted);
  const float margin = 0.005F * std::abs(wanted);
  CHECK(found <= (next == sorted.end() ? wanted : *next) + margin);
  CHECK(found >= (first == sorted.begin() ? wanted : *(first - 1)) - margin);
}

}  // namespace

TEST_CASE("percentile: the ends are within 0.5 % of the percentiles of all values", "[calibrate]") {
  for (const auto& [name, values] : activation_like(100000)) {
    const Density density = density_of(values);
    for (const double percentile : {90.0, 99.0, 99.9, 99.99, 99.999}) {
      CAPTURE(name, percentile);
      CalibrationConfig config;
      config.percentile = percentile;
      const Range range = given(percentile_range(density, config));
      const double cut = (100 - percentile) / 200;
      check_near(range.min, sorted(values), cut);
      check_near(range.max, sorted(values), 1 - cut);
      config.symmetric = true;
      const Range symmetric = given(percentile_range(density, config));
      check_near(symmetric.max, sorted_magnitudes(values), percentile / 100);
      CHECK(symmetric.min == -symmetric.max);
    }
  }
}

TEST_CASE("percentile: of few values the range is interpolated and never beyond the extremes",
          "[calibrate]") {
  CalibrationConfig config;
  config.percentile = 50;
  const Density density{.bins = {{1, 3, 100}}, .min = 1, .max = 3, .count = 100};
  CHECK(percentile_range(density, config) == Range{1.5F, 2.5F});
  config.symmetric = true;
  CHECK(percentile_range(density, config) == Range{-2, 2});
  config.percentile = 100;
  CHECK(percentile_range(density, config) == Range{-3, 3});
  config.symmetric = false;
  CHECK(percentile_range(density, config) == Range{1, 3});
}

TEST_CASE("percentile: no value has no range, zeros alone have none but zero", "[calibrate]") {
  CHECK_FALSE(percentile_range({}, {}).has_value());
  const Density zeros{.bins = {{0, 0, 7}}, .min = 0, .max = 0, .count = 7};
  CHECK(percentile_range(zeros, {}) == Range{0, 0});
}

}  // namespace qtool
