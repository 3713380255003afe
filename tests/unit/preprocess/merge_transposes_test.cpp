#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("two transposes become one, or none where they undo each other", "[preprocess]") {
  CHECK(left_by(R"(agraph (float[2,3,4] x) => (float[4,2,3] y) {
    a = Transpose <perm = [1, 2, 0]> (x)
    y = Transpose <perm = [1, 2, 0]> (a)
  })",
                merge_transposes, 0) == "Transpose");
  const auto both = [](Model& model) { return merge_transposes(model) | remove_no_ops(model); };
  CHECK(left_by(R"(agraph (float[2,3,4] x) => (float[2,3,4] y) {
    a = Neg (x)
    b = Transpose (a)
    c = Transpose <perm = [2, 1, 0]> (b)
    y = Exp (c)
  })",
                both, 0) == "Neg Exp");
}

TEST_CASE("a transpose that others read stays for them", "[preprocess]") {
  CHECK(left_by(R"(agraph (float[2,3] x) => (float[3,2] a, float[2,3] y) {
    a = Transpose (x)
    y = Transpose (a)
  })",
                merge_transposes, 0) == "Transpose Transpose");
}
