#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string split(const std::string& body) {
  return left_by(
      "agraph (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[2,2,1,1] w = {1, -2, 3, 4}> { " +
          body + " }",
      split_hard_sigmoid);
}

}  // namespace

TEST_CASE("split_hard_sigmoid: behind a Conv they become Add, Clip and Mul", "[preprocess]") {
  CHECK(split("c = Conv (x, w) y = HardSwish (c)") == "Conv Add Clip Mul Mul");
  CHECK(split("c = Conv (x, w) y = HardSigmoid <alpha = 0.2, beta = 0.5> (c)") ==
        "Conv Add Clip Mul");
  CHECK(split("c = Conv (x, w) s = Add (c, x) y = HardSigmoid (s)") == "Conv Add Add Clip Mul");
}

TEST_CASE("split_hard_sigmoid: elsewhere one float operator is the faster", "[preprocess]") {
  CHECK(split("y = HardSwish (x)") == "HardSwish");
  CHECK(split("c = Conv (x, w) e = Exp (c) y = HardSwish (e)") == "Conv Exp HardSwish");
  CHECK(split("c = Conv (x, w) y = HardSigmoid <alpha = -0.2> (c)") == "Conv HardSigmoid");
}
