#include "calibrate/statistics.h"

#include <limits>
#include <vector>

#include "catch.h"

namespace qtool {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TensorStatistics seen(const std::vector<std::vector<float>>& samples, std::uint64_t first = 0) {
  TensorStatistics out;
  for (const auto& sample : samples) out.observe(sample, first++, StatisticsKind::All);
  return out;
}

}  // namespace

TEST_CASE("statistics: extremes of a sample cover all that was seen of it", "[calibrate]") {
  TensorStatistics statistics;
  const auto observe = [&](float low, float high, std::uint64_t sample) {
    statistics.observe(std::vector<float>{low, high}, sample, StatisticsKind::Extremes, true);
  };
  observe(-1, 1, 3);
  observe(0, 5, 3);
  observe(-2, 0, 0);
  TensorStatistics merged;
  merged.merge(statistics);
  CHECK(merged.sample_extremes == std::vector<SampleExtremes>{{0, -2, 0}, {3, -1, 5}});
}

TEST_CASE("statistics keep the extremes of all samples", "[calibrate]") {
  const auto statistics = seen({{1, 2}, {-3}, {0.5F}});
  CHECK(statistics.min.value == -3);
  CHECK(statistics.max.value == 2);
  CHECK(statistics.value_count == 4);
  CHECK(statistics.sample_count == 3);
  CHECK(statistics.sum_of_minima.value() == -1.5);
  CHECK(statistics.sum_of_maxima.value() == -0.5);
}

TEST_CASE("an extreme is that of the first sample that has it", "[calibrate]") {
  auto statistics = seen({{1, 3}, {-2, 3}, {-2}}, 5);
  CHECK(statistics.min.sample == 6);
  CHECK(statistics.max.sample == 5);
  statistics.merge(seen({{-2, 4}}, 2));
  CHECK(statistics.min.sample == 2);
  CHECK(statistics.max.sample == 2);
}

TEST_CASE("the distribution counts zeros and sums exactly", "[calibrate]") {
  const auto statistics = seen({{0, 0.5F, -0.0F, kNan}, {1e30F, 2}, {-1e30F}});
  CHECK(statistics.zero_count == 2);
  CHECK(statistics.sum.value() == 0.5);  // 2 is lost beside 1e30 in the sum of its sample
  CHECK(statistics.density().count == 6);
}

TEST_CASE("values that are not finite are counted and count for nothing else", "[calibrate]") {
  const auto statistics = seen({{kNan, 5, -kInf}, {kInf}});
  CHECK(statistics.min.value == 5);
  CHECK(statistics.max.value == 5);
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
  merged.merge(seen(b, 2));
  auto other_way = seen(b, 2);
  other_way.merge(seen(a));
  CHECK(merged == other_way);
  CHECK(merged == seen({{1, 2}, {kNan}, {}, {-7, 0.1F}, {3e38F}}));
  merged.merge(TensorStatistics{});
  CHECK(merged == other_way);
}

TEST_CASE("values of one sample that come in pieces are one sample's", "[calibrate]") {
  const std::vector<float> first = {1, -2}, second = {5, 0.5F}, third = {-3};
  TensorStatistics pieces, whole;
  for (const auto& piece : {first, second, third}) pieces.observe(piece, 7, StatisticsKind::All);
  whole.observe(std::vector<float>{1, -2, 5, 0.5F, -3}, 7, StatisticsKind::All);
  CHECK(pieces == whole);
  CHECK(pieces.sample_count == 1);
  CHECK(pieces.sum_of_minima.value() == -3);
  CHECK(pieces.sum_of_maxima.value() == 5);
  pieces.observe(first, 8, StatisticsKind::All);
  CHECK(pieces.sample_count == 2);
  CHECK(pieces.sum_of_minima.value() == -5);
  CHECK(pieces.sum_of_maxima.value() == 6);
}

}  // namespace qtool
