#include "calibrate/linear_grid.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"
#include "quantize/params.h"

namespace qtool {

// The numbers themselves are held to ONNX Runtime's in tests/unit/quantize/params_test.cpp.
TEST_CASE("linear grid: any range lies on it to half a step, with zero on a level", "[calibrate]") {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const auto type :
       {ElementType::UInt8, ElementType::Int8, ElementType::UInt16, ElementType::Int16}) {
    for (const bool is_symmetric : {false, true}) {
      const QuantizedLevels levels = quantized_levels({type, is_symmetric, false, {}});
      for (int i = 0; i < 500; ++i) {
        const float a = std::ldexp(normal(random), i % 200 - 100);
        const float b = a * std::ldexp(normal(random), i % 7 - 3);
        const Range range{std::min(a, b), std::max(a, b)};
        const LinearGrid grid = linear_grid(range, levels);
        CAPTURE(range.min, range.max, is_symmetric, grid.scale, grid.zero_point);
        CHECK(grid.zero_point >= levels.clamp_min);
        CHECK(grid.zero_point <= levels.clamp_max);
        // A hundredth more: the scale is rounded to float32 and counted up to 65535 times.
        const double half = static_cast<double>(grid.scale) * 0.51;
        CHECK(grid.lowest <= static_cast<double>(range.min) + half);
        CHECK(grid.highest >= static_cast<double>(range.max) - half);
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
