#include "calibrate/minmax.h"

#include <vector>

#include "catch.h"

namespace qtool {
namespace {

TensorStatistics two_samples() {
  TensorStatistics out;
  out.observe(std::vector<float>{-1, 4}, 0, StatisticsKind::Extremes);
  out.observe(std::vector<float>{-3, 2}, 1, StatisticsKind::Extremes);
  return out;
}

}  // namespace

TEST_CASE("minmax: the range is the extremes of all samples", "[calibrate]") {
  CHECK(minmax_range(two_samples(), {}) == Range{-3, 4});
}

TEST_CASE("minmax: symmetric takes the larger end for both", "[calibrate]") {
  CalibrationConfig config;
  config.symmetric = true;
  CHECK(minmax_range(two_samples(), config) == Range{-4, 4});
}

TEST_CASE("minmax: the moving average is the mean of each sample's extremes", "[calibrate]") {
  CalibrationConfig config;
  config.moving_average = true;
  CHECK(minmax_range(two_samples(), config) == Range{-2, 3});
  config.symmetric = true;
  CHECK(minmax_range(two_samples(), config) == Range{-3, 3});
}

TEST_CASE("minmax: strides count only for the moving average", "[calibrate]") {
  CalibrationConfig config;
  config.stride = 1;
  CHECK(minmax_range(two_samples(), config) == Range{-3, 4});
  CHECK_FALSE(needs_sample_extremes(config));
  config.moving_average = true;
  CHECK(needs_sample_extremes(config));
}

TEST_CASE("minmax: a new stride moves the average by the constant", "[calibrate]") {
  TensorStatistics statistics, none;
  const auto add = [&](std::uint64_t sample, float min, float max) {
    statistics.observe(std::vector<float>{min, max}, sample, StatisticsKind::Extremes, true);
  };
  // Not in their order, and sample 3 has no value.
  add(5, -1, 1);
  add(0, -2, 2);
  add(1, -4, 4);
  add(2, -8, 16);
  add(4, -1, 1);
  none.merge(statistics);
  CalibrationConfig config;
  config.moving_average = true;
  config.stride = 2;
  config.averaging_constant = 0.5;
  // Means -3, 3; -8, 16; -1, 1.
  CHECK(minmax_range(none, config) == Range{-3.25F, 5.25F});
  config.symmetric = true;
  CHECK(minmax_range(none, config) == Range{-5.25F, 5.25F});
  config.stride = 6;
  config.symmetric = false;
  CHECK(minmax_range(none, config) == Range{-3.2F, 4.8F});
}

TEST_CASE("minmax: a tensor without a finite value has no range", "[calibrate]") {
  CHECK_FALSE(minmax_range(TensorStatistics{}, {}).has_value());
}

}  // namespace qtool
