#include "calibrate/statistics.h"

#include <limits>
#include <vector>

#include "catch.h"

namespace qtool {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TensorStatistics seen(const std::vector<std::vector<float>>& samples) {
  TensorStatistics out;
  for (const auto& sample : samples) out.observe(sample);
  return out;
}

}  // namespace

TEST_CASE("statistics keep the extremes of all samples", "[calibrate]") {
  const auto statistics = seen({{1, 2}, {-3}, {0.5F}});
  CHECK(statistics.min == -3);
  CHECK(statistics.max == 2);
  CHECK(statistics.value_count == 4);
  CHECK(statistics.sample_count == 3);
  CHECK(statistics.sum_of_minima.value() == -1.5);
  CHECK(statistics.sum_of_maxima.value() == -0.5);
}

TEST_CASE("values that are not finite are counted and count for nothing else", "[calibrate]") {
  const auto statistics = seen({{kNan, 5, -kInf}, {kInf}});
  CHECK(statistics.min == 5);
  CHECK(statistics.max == 5);
  CHECK(statistics.nonfinite_count == 3);
  CHECK(statistics.sample_count == 1);
}

TEST_CASE("a tensor that is empty or never finite has no values", "[calibrate]") {
  CHECK(seen({{}, {kNan}}).value_count == 0);
  CHECK(seen({{}, {kNan}}).sample_count == 0);
}

TEST_CASE("merging is the same as having seen all samples, in any order", "[calibrate]") {
  const std::vector<std::vector<float>> a{{1, 2}, {kNan}};
  const std::vector<std::vector<float>> b{{}, {-7, 0.1F}, {3e38F}};
  auto merged = seen(a);
  merged.merge(seen(b));
  auto other_way = seen(b);
  other_way.merge(seen(a));
  CHECK(merged == other_way);
  CHECK(merged == seen({{3e38F}, {1, 2}, {}, {-7, 0.1F}, {kNan}}));
  merged.merge(TensorStatistics{});
  CHECK(merged == other_way);
}

}  // namespace qtool
