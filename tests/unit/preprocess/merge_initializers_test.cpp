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

TEST_CASE("initializers that only begin alike stay apart", "[preprocess]") {
  const auto weights = [](const std::string& name, int last) {
    std::string out = "float[100] " + name + " = {";
    for (int i = 1; i < 100; ++i) out += "1, ";
    return out + std::to_string(last) + "}";
  };
  const Model model =
      after_pass(text_model("agraph (float[100] x) => (float[100] y) <" + weights("a", 1) + ", " +
                            weights("b", 2) + ", " + weights("c", 1) +
                            "> { p = Add (x, a) q = Mul (p, b) y = Add (q, c) }"),
                 merge_initializers, 0);
  CHECK(initializer_names(model.graph()) == "a b");
}
