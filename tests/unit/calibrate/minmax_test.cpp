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

TEST_CASE("minmax: a tensor without a finite value has no range", "[calibrate]") {
  CHECK_FALSE(minmax_range(TensorStatistics{}, {}).has_value());
}

}  // namespace qtool
