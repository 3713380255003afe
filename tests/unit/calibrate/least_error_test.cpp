#include "calibrate/least_error.h"

#include <cmath>
#include <vector>

#include "calibrate/entropy.h"
#include "calibrate/percentile.h"
#include "catch.h"
#include "density_samples.h"

namespace qtool {

using testing::activation_like;
using testing::density_of;
using testing::given;

namespace {

constexpr QuantizedLevels kUInt8{0, 255, 0, 255, false};

}  // namespace

TEST_CASE("auto: no method has less error by its criterion", "[calibrate]") {
  const CalibrationConfig config;
  for (const auto& [name, values] : activation_like(20000)) {
    CAPTURE(name);
    const Density density = density_of(values);
    const QuantizationError error(density, kAutoPower);
    const double found = error(linear_grid(given(auto_range(density, config, kUInt8)), kUInt8));
    for (const Range other :
         {Range{density.min, density.max}, given(percentile_range(density, config)),
          given(entropy_range(density, config)), given(mse_range(density, {kUInt8, {}}))})
      CHECK(found <= error(linear_grid(other, kUInt8)) * (1 + 1e-3));
  }
}

TEST_CASE("auto: a higher power keeps more of the outliers", "[calibrate]") {
  const Density density = density_of(activation_like(100000).front().values);
  const float squared = given(auto_range(density, {}, kUInt8, 2)).max;
  const float higher = given(auto_range(density, {}, kUInt8, 4)).max;
  CHECK(squared < higher);
  CHECK(higher <= density.max);
}

TEST_CASE("auto: of equal candidates the first is taken", "[calibrate]") {
  const Density density{.bins = {{0, 0, 5}}, .min = 0, .max = 0, .count = 5};
  const std::vector<Range> candidates{{-1, 2}, {0, 1}};
  CHECK(least_error_of(candidates, QuantizationError(density, 2), kUInt8) == Range{-1, 2});
}

TEST_CASE("auto: symmetric gives a symmetric range; no value gives none", "[calibrate]") {
  CalibrationConfig config;
  config.symmetric = true;
  const Density density = density_of(activation_like(5000).front().values);
  const Range range = given(auto_range(density, config, kUInt8));
  CHECK(range.min == -range.max);
  CHECK_FALSE(auto_range({}, config, kUInt8).has_value());
}

}  // namespace qtool
