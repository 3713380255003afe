#include "calibrate/coverage.h"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"

namespace qtool {
namespace {

std::uint64_t clipped(const std::vector<float>& values, Range range) {
  HeldOutValues out;
  out.observe(values, 0, range);
  return out.clipped_count;
}

double used(const std::vector<float>& values, Range range) {
  HeldOutValues out;
  out.observe(values, 0, range);
  return range_used(out.statistics, range);
}

}  // namespace

TEST_CASE("coverage: values on the ends of the range are inside", "[calibrate]") {
  CHECK(clipped({-1, 0, 2}, {-1, 2}) == 0);
  CHECK(clipped({6, 6, 6, 0}, {0, 6}) == 0);
}

TEST_CASE("coverage: every value outside is counted, and no other", "[calibrate]") {
  const float beyond = std::nextafter(2.0F, 3.0F);
  CHECK(clipped({-1, 0, 2, 2, 2, beyond}, {-1, 2}) == 1);
  CHECK(clipped({-3, 0, 1, 5}, {-1, 2}) == 2);
  CHECK(clipped({6, 6, 6, 1, 0}, {0, 5.9F}) == 3);
  CHECK(clipped({-2, 3}, {0, 0}) == 2);
  const std::vector<float> many(200001, 3);
  CHECK(clipped(many, {0, 2}) == many.size());
}

TEST_CASE("coverage: pieces join in any order, and without a range nothing is clipped",
          "[calibrate]") {
  const Range range{0, 2};
  HeldOutValues a, b, ab, ba;
  a.observe(std::vector<float>{1, 3, 3}, 4, range);
  b.observe(std::vector<float>{-1, 3}, 2, range);
  ab.merge(a);
  ab.merge(b);
  ba.merge(b);
  ba.merge(a);
  for (const HeldOutValues* each : {&ab, &ba}) {
    CHECK(each->clipped_count == 4);
    CHECK(each->clipped() == 0.8);
    CHECK(each->statistics.max.sample == 2);
    CHECK(each->statistics.min.value == -1);
  }
  HeldOutValues free;
  free.observe(std::vector<float>{-1, 3}, 2, std::nullopt);
  CHECK(free.clipped_count == 0);
}

TEST_CASE("coverage: zero always counts as used", "[calibrate]") {
  CHECK(used({2, 4}, {0, 4}) == 1);
  CHECK(used({2, 3}, {0, 4}) == 0.75);
  CHECK(used({-1, 1}, {-4, 4}) == 0.25);
  CHECK(used({-9, 9}, {-4, 4}) == 1);
  CHECK(used({0, 0}, {0, 0}) == 1);
}

TEST_CASE("coverage: values that are not finite count for nothing", "[calibrate]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  CHECK(clipped({infinity, 1, -infinity, nothing, 3}, {0, 2}) == 1);
}

}  // namespace qtool
