#include "report/left_in_float.h"

#include "catch.h"

namespace qtool {
namespace {

std::vector<Skipped> example() {
  return {{1, "soft1", "Softmax", "", "its input is not quantized"},
          {2, "", "Exp", "", "the operator has no 8-bit form"},
          {4, "soft2", "Softmax", "", "its input is not quantized"},
          {5, "conv", "Conv", "x", "was never seen in calibration"}};
}

TEST_CASE("left in float: nodes are grouped by operator and reason, the largest group first",
          "[report]") {
  CHECK(to_text({"", left_sections(group_left(example()), 8)}) ==
        "nodes left in float\n"
        "  nodes  operator  why\n"
        "      2  Softmax   its input is not quantized\n"
        "      1  Exp       the operator has no 8-bit form\n"
        "\n"
        "tensors left in float\n"
        "  tensors  operator  why\n"
        "        1  Conv      was never seen in calibration\n");
}

TEST_CASE("left in float: what is beyond the limit is counted", "[report]") {
  CHECK(to_text({"", left_sections(group_left(example()), 1)})
            .find("  nodes  operator  why\n"
                  "      2  Softmax   its input is not quantized\n"
                  "      1            for other reasons, see --report\n") != std::string::npos);
}

TEST_CASE("left in float: nothing left, nothing said", "[report]") {
  CHECK(left_sections(group_left({}), 8).empty());
  CHECK(left_details(group_left({})).empty());
}

TEST_CASE("left in float: JSON lists every name, unnamed nodes by their number", "[report]") {
  CHECK(
      to_compact_json(to_json(group_left(example()))) ==
      R"({"nodes":[{"op_type":"Softmax","reason":"its input is not quantized","names":["soft1","soft2"]},)"
      R"({"op_type":"Exp","reason":"the operator has no 8-bit form","names":["#2"]}],)"
      R"("tensors":[{"op_type":"Conv","reason":"was never seen in calibration","names":["x"]}]})");
}

}  // namespace
}  // namespace qtool
