#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("the branch of a known condition takes the place of its If", "[preprocess]") {
  const Model model = after_pass(
      text_model(R"(agraph (float[2] x) => (float[2] y, float[2] z)
    <bool yes = {1}, bool no = {0}> {
    y = If (yes) <
      then_branch = a () => (float[2] b) <float[2] w = {1, 2}> { t = Neg (x) b = Add (t, w) },
      else_branch = c () => (float[2] d) { d = Exp (x) }
    >
    z = If (no) <
      then_branch = e () => (float[2] f) { f = Exp (x) },
      else_branch = g () => (float[2] h) <float[2] w = {3, 4}> { t = Exp (y) h = Mul (t, w) }
    >
  })"),
      [](Model& each) { return inline_branches(each) | remove_no_ops(each); }, 0);
  CHECK(op_types(model.graph()) == "Neg Add Exp Mul");
}

TEST_CASE("an If whose condition a caller gives stays", "[preprocess]") {
  CHECK(left_by(R"(agraph (float[2] x, bool c) => (float[2] y) {
    y = If (c) <
      then_branch = a () => (float[2] b) { b = Neg (x) },
      else_branch = d () => (float[2] e) { e = Exp (x) }
    >
  })",
                inline_branches, 0) == "If");
}
