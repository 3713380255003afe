#include "calibrate/channel_extremes.h"

#include <limits>

#include "catch.h"

namespace qtool {
namespace {

using Shape = std::vector<std::int64_t>;
using Values = std::vector<float>;
using Pairs = std::vector<std::pair<float, float>>;

Pairs pairs(const ChannelExtremes& extremes) {
  Pairs out;
  for (const auto& channel : extremes.channels()) out.emplace_back(channel.min, channel.max);
  return out;
}

}  // namespace

TEST_CASE("channel extremes: axis 1 stays, every other axis is reduced", "[calibrate]") {
  ChannelExtremes extremes;
  extremes.observe(Values{1, 2, 3, 4, 5, 6, -1, -2, 0, 9, 7, 8}, Shape{2, 3, 2});
  CHECK(pairs(extremes) == Pairs{{-2, 2}, {0, 9}, {5, 8}});
}

TEST_CASE("channel extremes: fewer than two axes are one channel", "[calibrate]") {
  ChannelExtremes vector, scalar;
  vector.observe(Values{3, -4, 1}, Shape{3});
  scalar.observe(Values{2}, Shape{});
  CHECK(pairs(vector) == Pairs{{-4, 3}});
  CHECK(pairs(scalar) == Pairs{{2, 2}});
}

TEST_CASE("channel extremes: samples and parts widen one another", "[calibrate]") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  ChannelExtremes a, b;
  a.observe(Values{1, kNan}, Shape{1, 2});
  b.observe(Values{-1, 5}, Shape{1, 2});
  b.observe(Values{}, Shape{0, 2});
  a.merge(b);
  a.merge({});
  CHECK(pairs(a) == Pairs{{-1, 1}, {5, 5}});
}

TEST_CASE("channel extremes: another number of channels is told", "[calibrate]") {
  ChannelExtremes a, b;
  a.observe(Values{1, 2}, Shape{1, 2});
  b.observe(Values{1, 2, 3}, Shape{1, 3});
  CHECK_FALSE(a.is_ragged());
  a.merge(b);
  CHECK(a.is_ragged());
  b.merge(a);
  CHECK(b.is_ragged());
}

TEST_CASE("channel extremes: equal where they say the same", "[calibrate]") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  ChannelExtremes a, b, other;
  a.observe(Values{1, kNan}, Shape{1, 2});
  a.observe(Values{1, kNan}, Shape{1, 2});
  b.observe(Values{1, kNan}, Shape{1, 2});
  other.observe(Values{1, 0}, Shape{1, 2});
  CHECK(a == b);
  CHECK_FALSE(a == other);
  CHECK_FALSE(a == ChannelExtremes());
  CHECK(ChannelExtremes::from({{1, 1, 1, 0}, {}}, false) == a);
  CHECK_FALSE(ChannelExtremes::from({}, true) == a);
}

}  // namespace qtool
