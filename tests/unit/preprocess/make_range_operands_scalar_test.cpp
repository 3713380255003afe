#include "preprocess/preprocess.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("constants of one element become scalars where a Range reads them", "[preprocess]") {
  const Model model = after_pass(
      text_model("agraph (int64[1] n) => (int64[K] y, int64[1] z) <int64 zero = {0}, int64[1] one "
                 "= {1}> { y = Range (zero, n, one) z = Add (n, one) }"),
      make_range_operands_scalar);
  CHECK(initializer_names(model.graph()) == "zero one y_delta");
  CHECK(model.graph().node(0).input(2) == "y_delta");
  CHECK(model.graph().initializer(2).dims_size() == 0);
  CHECK(model.graph().node(1).input(1) == "one");
}

TEST_CASE("a Range whose limit a branch gives with one axis folds when the branch is known",
          "[preprocess]") {
  const Model before = text_model(R"(agraph (int64[3] x) => (int64[3] y)
    <bool yes = {1}, int64[2] sizes = {3, 5}, int64 zero = {0}, int64 one = {1}> {
    n, m = If (yes) <
      then_branch = a () => (int64[1] p, int64[1] q) { p, q = Split (sizes) },
      else_branch = b () => (int64[1] r, int64[1] s) { s, r = Split (sizes) }
    >
    steps = Range (zero, n, one)
    y = Add (x, steps)
  })");
  Model model = before.clone();
  CHECK(preprocess(model, {}).notes.empty());
  CHECK(op_types(model.graph()) == "Add");
  CHECK(difference(before, model) == 0);
}
