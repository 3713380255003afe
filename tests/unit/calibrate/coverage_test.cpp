#include "calibrate/coverage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.h"

namespace qtool {
namespace {

TensorStatistics statistics_of(const std::vector<float>& values) {
  TensorStatistics out;
  out.observe(values, 0, StatisticsKind::Distribution);
  return out;
}

RangeUse use_of(const std::vector<float>& values, Range range) {
  return range_use(statistics_of(values), range).value();
}

}  // namespace

TEST_CASE("coverage: values on the ends of the range are inside", "[calibrate]") {
  CHECK(use_of({-1, 0, 2}, {-1, 2}).clipped_count == 0);
  CHECK(use_of({6, 6, 6, 0}, {0, 6}).clipped_count == 0);
}

TEST_CASE("coverage: one value next to the end counts as one", "[calibrate]") {
  const float beyond = std::nextafter(2.0F, 3.0F);
  CHECK(use_of({-1, 0, 2, 2, 2, beyond}, {-1, 2}).clipped_count >= 1);
  CHECK(use_of({-1, 0, 1, beyond}, {-1, 2}).clipped_count == 1);
  CHECK(use_of({-3, 0, 1, 5}, {-1, 2}).clipped_count == 2);
}

TEST_CASE("coverage: many equal values beyond the end are all clipped", "[calibrate]") {
  CHECK(use_of({6, 6, 6, 1, 0}, {0, 5.9F}).clipped_count == 3);
}

TEST_CASE("coverage: no more is clipped than there is", "[calibrate]") {
  CHECK(use_of({-2, 3}, {0, 0}).clipped_count == 2);
  CHECK(use_of({7}, {-1, 2}).clipped_count == 1);
}

TEST_CASE("coverage: the clipped share is that of the values to the sketch's resolution",
          "[calibrate]") {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(20000);
  for (float& value : values) value = normal(random);
  const TensorStatistics statistics = statistics_of(values);
  for (const Range range : {Range{-1, 1}, Range{-0.3F, 2.5F}, Range{0, 3}}) {
    const auto outside = static_cast<double>(std::ranges::count_if(
        values, [&](float value) { return value < range.min || value > range.max; }));
    const auto found = static_cast<double>(range_use(statistics, range)->clipped_count);
    // A bucket of 0.2 % about an end of the range holds few of the values.
    CHECK(std::abs(found - outside) <= 0.001 * static_cast<double>(values.size()));
  }
}

TEST_CASE("coverage: zero always counts as used", "[calibrate]") {
  CHECK(use_of({2, 4}, {0, 4}).range_used == 1);
  CHECK(use_of({2, 3}, {0, 4}).range_used == 0.75);
  CHECK(use_of({-1, 1}, {-4, 4}).range_used == 0.25);
  CHECK(use_of({-9, 9}, {-4, 4}).range_used == 1);
  CHECK(use_of({0, 0}, {0, 0}).range_used == 1);
}

TEST_CASE("coverage: values that are not finite count for nothing", "[calibrate]") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(use_of({infinity, 1, -infinity}, {0, 1}).clipped_count == 0);
  CHECK_FALSE(range_use(statistics_of({infinity}), {0, 1}).has_value());
  CHECK_FALSE(range_use(statistics_of({}), {0, 1}).has_value());
}

}  // namespace qtool
