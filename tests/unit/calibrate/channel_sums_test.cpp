#include "calibrate/channel_sums.h"

#include <limits>

#include "catch.h"

namespace qtool {
namespace {

using Shape = std::vector<std::int64_t>;

ChannelSums sums_of(const std::vector<float>& values, const Shape& shape, std::int64_t axis) {
  ChannelSums out;
  out.observe(values, shape, axis);
  return out;
}

}  // namespace

TEST_CASE("a channel's mean is that of all its values in all samples", "[calibrate]") {
  ChannelSums sums = sums_of({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}, 1);
  CHECK(sums.means() == std::vector<double>{(1 + 2 + 5 + 6) / 4.0, (3 + 4 + 7 + 8) / 4.0});
  const std::vector<float> more{100, -100};
  sums.observe(more, Shape{1, 2, 1}, 1);
  CHECK(sums.means() == std::vector<double>{(14 + 100) / 5.0, (22 - 100) / 5.0});
}

TEST_CASE("channel sums merge in any order", "[calibrate]") {
  const ChannelSums a = sums_of({0.1F, 0.2F, 0.7F, 1e-3F}, {2, 2}, 1);
  const ChannelSums b = sums_of({3e5F, -0.3F}, {1, 2}, 1);
  ChannelSums one = a;
  one.merge(b);
  ChannelSums other = b;
  other.merge(a);
  other.merge(ChannelSums{});
  CHECK(one.means() == other.means());
}

TEST_CASE("what has no mean by channel gives none", "[calibrate]") {
  CHECK_FALSE(ChannelSums{}.means().has_value());
  CHECK_FALSE(sums_of({}, {0, 3}, 1).means().has_value());
  CHECK_FALSE(sums_of({1, 2}, {2}, 1).means().has_value());
  ChannelSums ragged = sums_of({1, 2}, {1, 2}, 1);
  ragged.observe(std::vector<float>{1, 2, 3}, Shape{1, 3}, 1);
  CHECK_FALSE(ragged.means().has_value());
  ChannelSums infinite = sums_of({std::numeric_limits<float>::infinity(), 2}, {1, 2}, 1);
  CHECK_FALSE(infinite.means().has_value());
  infinite.observe(std::vector<float>{4, 8}, Shape{1, 2}, 1);
  CHECK(infinite.means() == std::vector<double>{4, 8});
}

TEST_CASE("channel sums come back from their words", "[calibrate]") {
  ChannelSums sums = sums_of({-3e5F, 0.1F, 7, -1e-3F}, {2, 2}, 1);
  const auto words = sums.words();
  REQUIRE(words.size() == 2);
  CHECK(words[0].high == -1);
  CHECK(ChannelSums::from(words, sums.values_per_channel(), false) == sums);
  sums.observe(std::vector<float>{1, 2, 3}, Shape{1, 3}, 1);
  CHECK(sums.words().empty());
  CHECK(ChannelSums::from({}, 0, true) == sums);
}

}  // namespace qtool
