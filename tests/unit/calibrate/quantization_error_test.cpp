#include "calibrate/quantization_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/cumulative_count.h"
#include "catch.h"
#include "density_samples.h"

namespace qtool {

using testing::activation_like;
using testing::density_of;

namespace {

constexpr QuantizedLevels kUInt8{0, 255, 0, 255, false};
constexpr QuantizedLevels kInt8{-127, 127, -128, 127, true};
constexpr QuantizedLevels kUInt16{0, 65535, 0, 65535, false};
constexpr QuantizedLevels kUInt4{0, 15, 0, 15, false};

double error_at(double x, const LinearGrid& grid) {
  const double level = std::nearbyint(x / grid.scale) * static_cast<double>(grid.scale);
  return std::abs(x - std::clamp(level, grid.lowest, grid.highest));
}

/// The definition: every bin cut into so many points that no step of the grid shows.
double defined(const Density& density, const LinearGrid& grid, double power) {
  double sum = 0;
  for (const auto& bin : density.bins) {
    const double width = static_cast<double>(bin.high) - static_cast<double>(bin.low);
    const int points = bin.low == bin.high ? 1 : 20000;
    double in_bin = 0;
    for (int i = 0; i < points; ++i)
      in_bin += std::pow(error_at(bin.low + width * (i + 0.5) / points, grid), power);
    sum += static_cast<double>(bin.count) * in_bin / points;
  }
  return sum / static_cast<double>(density.count);
}

double mean_error(const std::vector<float>& values, const LinearGrid& grid, double power) {
  double sum = 0;
  for (const float value : values) sum += std::pow(error_at(value, grid), power);
  return sum / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("quantization error: equals its definition on the counts", "[calibrate]") {
  const Density density{.bins = {{-4, -3, 10},
                                 {-1, -0.5F, 300},
                                 {0, 0, 77},
                                 {0.5F, 0.75F, 20},
                                 {0.75F, 3, 400},
                                 {5, 5, 9},
                                 {8, 8.125F, 2}},
                        .min = -4,
                        .max = 8.125F,
                        .count = 818};
  for (const double power : {2.0, 2.4, 3.0}) {
    const QuantizationError error(density, power);
    for (const auto& levels : {kUInt8, kInt8, kUInt16, kUInt4}) {
      for (const Range range :
           {Range{-4, 8.125F}, Range{-0.6F, 2}, Range{-3.5F, 5}, Range{0, 1}, Range{-100, 100}}) {
        CAPTURE(power, levels.spread_max, range.min, range.max);
        const LinearGrid grid = linear_grid(range, levels);
        CHECK(error(grid) == Approx(defined(density, grid, power)).epsilon(0.002));
      }
    }
  }
}

TEST_CASE("quantization error: is that of all values within 1 %", "[calibrate]") {
  for (const auto& [name, values] : activation_like(100000)) {
    const Density density = density_of(values);
    for (const double power : {2.0, 2.4}) {
      const QuantizationError error(density, power);
      for (const auto& levels : {kUInt8, kInt8, kUInt4}) {
        for (const float share : {1.0F, 0.7F, 0.3F}) {
          CAPTURE(name, power, levels.spread_max, share);
          const LinearGrid grid = linear_grid({density.min * share, density.max * share}, levels);
          // Values that all sit on a level have no error; their bin's width is all that is left.
          const double blur = 1e-3 * largest_magnitude(density);
          const double floor = name == "two" ? std::pow(blur, power) : 0;
          CHECK(error(grid) == Approx(mean_error(values, grid, power)).epsilon(0.01).margin(floor));
        }
      }
    }
  }
}

TEST_CASE("quantization error: values on the grid have none", "[calibrate]") {
  const Density density{.bins = {{0, 0, 5}, {6, 6, 5}}, .min = 0, .max = 6, .count = 10};
  const QuantizationError error(density, 2);
  CHECK(error(linear_grid({0, 6}, kUInt8)) < 1e-12);
  CHECK(error(linear_grid({0, 3}, kUInt8)) == Approx(4.5));
}

}  // namespace qtool
