#include "calibrate/linear_grid.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"
#include "quantize/params.h"

namespace qtool {
namespace {

QuantizedLevels levels_of(const QuantScheme& scheme) {
  const IntegerRange spread = spread_range(scheme);
  const IntegerRange full = full_range(scheme.type);
  return {spread.min, spread.max,          full.min,
          full.max,   scheme.is_symmetric, scheme.minimum_real_range};
}

}  // namespace

TEST_CASE("linear grid: scale and zero point are the quantizer's, bit for bit", "[calibrate]") {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const auto type :
       {ElementType::UInt8, ElementType::Int8, ElementType::UInt16, ElementType::Int16}) {
    for (const bool is_symmetric : {false, true}) {
      for (int i = 0; i < 500; ++i) {
        QuantScheme scheme{type, is_symmetric, false, {}};
        if (i % 3 == 0) scheme.minimum_real_range = 1e-4;
        const float a = std::ldexp(normal(random), i % 300 - 150);
        const float b = std::ldexp(normal(random), i % 7 - 3) * (i % 5 == 0 ? a : 1);
        const Range range{std::min(a, b), std::max(a, b)};
        const LinearGrid found = linear_grid(range, levels_of(scheme));
        const ScaleAndZero wanted = scale_and_zero(range, scheme);
        CAPTURE(range.min, range.max, is_symmetric);
        CHECK(found.scale == wanted.scale);
        CHECK(found.zero_point == wanted.zero_point);
      }
    }
  }
}

TEST_CASE("linear grid: symmetric int8 still has the level -128", "[calibrate]") {
  const LinearGrid grid = linear_grid({-127, 127}, {-127, 127, -128, 127, true});
  CHECK(grid.scale == 1);
  CHECK(grid.lowest == -128);
  CHECK(grid.highest == 127);
}

}  // namespace qtool
