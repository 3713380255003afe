#include "report/comparison.h"

#include "catch.h"

namespace qtool {
namespace {

TEST_CASE("gate text: says value and limit, or why there is no value", "[report]") {
  CHECK(gate_text({"min_cosine", 0.99, 0.91, false, {}}) ==
        "min_cosine: 0.91, expected at least 0.99");
  CHECK(gate_text({"max_size_ratio", 0.3, 0.5, false, {}}) ==
        "max_size_ratio: 0.5, expected at most 0.3");
  CHECK(gate_text({"max_top1_drop", 0.01, 0, false, "the first output names no class"}) ==
        "max_top1_drop: the first output names no class, expected at most 0.01");
}

}  // namespace
}  // namespace qtool
