#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string left(const std::string& second_axis) {
  return left_by(
      "agraph (float[4,5,6] x) => (float[A,B,C] y) <int64[1] one = {1}, int64[1] four = "
      "{4}, int64[1] two = {2}, int64[1] last = {-1}> { a = Slice (x, one, four, one) y = "
      "Slice (a, one, four, " +
          second_axis + ", two) }",
      merge_slices, 0);
}

}  // namespace

TEST_CASE("slices of different axes become one", "[preprocess]") {
  CHECK(left("two") == "Slice");
  CHECK(left("last") == "Slice");
}

TEST_CASE("slices of the same axis stay two", "[preprocess]") {
  CHECK(left("one") == "Slice Slice");
}
