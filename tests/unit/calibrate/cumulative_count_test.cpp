#include "calibrate/cumulative_count.h"

#include "catch.h"

namespace qtool {
namespace {

Density two_bins_and_zeros() {
  return {.bins = {{-2, -1, 4}, {0, 0, 6}, {1, 2, 10}}, .min = -2, .max = 2, .count = 20};
}

}  // namespace

TEST_CASE("cumulative count: is linear within bins and jumps at values", "[calibrate]") {
  const CumulativeCount count(two_bins_and_zeros());
  CHECK(count.total() == 20);
  CHECK(count.below(-2) == 0);
  CHECK(count.below(-1.5) == 2);
  CHECK(count.below(-0.5) == 4);
  CHECK(count.below(0) == 4);
  CHECK(count.up_to(0) == 10);
  CHECK(count.below(1) == 10);
  CHECK(count.below(1.5) == 15);
  CHECK(count.below(2) == 20);
  CHECK(count.up_to(99) == 20);
}

TEST_CASE("cumulative count: the inverse finds where a count is reached", "[calibrate]") {
  const CumulativeCount count(two_bins_and_zeros());
  CHECK(count.inverse(2) == -1.5);
  CHECK(count.inverse(4) == -1);
  CHECK(count.inverse(5) == 0);
  CHECK(count.inverse(10) == 0);
  CHECK(count.inverse(15) == 1.5);
  CHECK(count.inverse(20) == 2);
}

}  // namespace qtool
