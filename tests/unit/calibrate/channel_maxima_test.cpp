#include "calibrate/channel_maxima.h"

#include <limits>

#include "catch.h"

namespace qtool {
namespace {

using Shape = std::vector<std::int64_t>;

ChannelMaxima maxima_of(const std::vector<float>& values, const Shape& shape, std::int64_t axis) {
  ChannelMaxima out;
  out.observe(values, shape, axis);
  return out;
}

}  // namespace

TEST_CASE("a channel's largest magnitude is that of all its values in all samples", "[calibrate]") {
  ChannelMaxima maxima = maxima_of({1, -2, 3, 4, 5, 6, -7, 0}, {2, 2, 2}, 1);
  CHECK(maxima.maxima() == std::vector<float>{6, 7});
  maxima.observe(std::vector<float>{-9, 1}, Shape{1, 2, 1}, 1);
  CHECK(maxima.maxima() == std::vector<float>{9, 7});
}

TEST_CASE("channels of the last axis are those of any rank", "[calibrate]") {
  ChannelMaxima maxima = maxima_of({1, -2, 3, 1}, {2, 2}, -1);
  maxima.observe(std::vector<float>{0, 8}, Shape{1, 1, 2}, -1);
  CHECK(maxima.maxima() == std::vector<float>{3, 8});
}

TEST_CASE("channel maxima merge in any order", "[calibrate]") {
  const ChannelMaxima a = maxima_of({1, -5}, {1, 2}, 1), b = maxima_of({3, 2}, {1, 2}, 1);
  ChannelMaxima ab = a, ba = b;
  ab.merge(b);
  ba.merge(a);
  ba.merge(ChannelMaxima{});
  CHECK(ab == ba);
  CHECK(ab.maxima() == std::vector<float>{3, 5});
}

TEST_CASE("values that are not finite have no magnitude, ragged samples no channels",
          "[calibrate]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  ChannelMaxima maxima = maxima_of({infinity, nothing, 2, -3}, {2, 2}, 1);
  CHECK(maxima.maxima() == std::vector<float>{2, 3});
  CHECK(maxima_of({}, {0, 2}, 1).maxima().empty());
  CHECK(maxima_of({1}, {1}, 1).maxima().empty());
  maxima.observe(std::vector<float>{1, 2, 3}, Shape{1, 3}, 1);
  CHECK(maxima.maxima().empty());
  CHECK(ChannelMaxima::from({}, true) == maxima);
}

}  // namespace qtool
