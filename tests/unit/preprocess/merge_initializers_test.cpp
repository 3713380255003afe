#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("equal initializers become the first of them, in branches too", "[preprocess]") {
  const Model model =
      after_pass(text_model(R"(agraph (float[2] x, bool c) => (float[2] y, float[2] z)
    <float[2] v = {1, 2}, float[2] w = {1, 2}, float[1,2] u = {1, 2}, float[2] t = {1, 3}> {
    a = Add (x, v)
    b = Mul (a, w)
    z = Add (b, t)
    y = If (c) <
      then_branch = yes () => (float[2] d) <float[2] s = {1, 2}> { d = Add (b, s) },
      else_branch = no () => (float[2] f) { g = Add (b, u) f = Squeeze (g) }
    >
  })"),
                 merge_initializers, 0);
  CHECK(initializer_names(model.graph()) == "v u t");
}
