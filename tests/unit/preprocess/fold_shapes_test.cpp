#include "preprocess/fold_shapes.h"

#include "catch.h"
#include "graph_text.h"
#include "preprocess/shape_inference.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model folded(const std::string& text) {
  Model model = text_model(text);
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  const Model before = model.clone();
  fold_shapes(model);
  CHECK(difference(before, model) == 0);
  return model;
}

std::vector<double> values_of(const Model& model, const std::string& name) {
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name() == name) return to_float64(model.tensor(tensor));
  }
  return {};
}

}  // namespace

TEST_CASE("the shape of a value of known shape is a constant", "[preprocess]") {
  const Model model = folded(R"(agraph (float[2,3,4] x) => (int64[3] y, int64[2] z, int64 n) {
    a = Relu (x)
    s = Shape (a)
    t = Shape <start = 1, end = -1> (a)
    c = Size (a)
    y = Neg (s)
    z = Add (s1, t)
    n = Neg (c)
    s1 = Shape <start = -2> (a)
  })");
  CHECK(values_of(model, "s") == std::vector<double>{2, 3, 4});
  CHECK(values_of(model, "t") == std::vector<double>{3});
  CHECK(values_of(model, "s1") == std::vector<double>{3, 4});
  CHECK(values_of(model, "c") == std::vector<double>{24});
}

TEST_CASE("a known size among free ones is a constant", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,3,4] x) => (int64 y, int64[2] z, int64 w)
    <int64 one = {1}, int64[1] from = {-2}, int64[1] to = {9223372036854775807}, int64 zero = {0}> {
    s = Shape (x)
    g = Gather (s, one)
    t = Slice (s, from, to)
    y = Neg (g)
    z = Neg (t)
    w = Gather (s, zero)
  })");
  CHECK(op_types(model.graph()) == "Shape Neg Neg Gather");
  CHECK(values_of(model, "g") == std::vector<double>{3});
  CHECK(values_of(model, "t") == std::vector<double>{3, 4});
}

TEST_CASE("shapes that are outputs or free stay", "[preprocess]") {
  const Model model = folded(
      "agraph (float[2,3] x, float[N] z) => (int64[2] y, int64[1] s) { y = Shape (x) s = Shape (z) "
      "}");
  CHECK(op_types(model.graph()) == "Shape Shape");
}

TEST_CASE("a branch may ask for shapes, the body of a loop may not", "[preprocess]") {
  const Model model =
      folded(R"(agraph (float[2,3] x, bool p, int64 n) => (int64[2] y, float[K,3] z) {
    y = If (p) <
      then_branch = yes () => (int64[2] t) { s = Shape (x) t = Neg (s) },
      else_branch = no () => (int64[2] e) { s = Shape (x) e = Abs (s) }
    >
    z = Loop (n, p, x) <body = step (int64 i, bool go, float[2,3] v) => (bool on, float[K,3] w) {
      on = Identity (go)
      s = Shape (v)
      f = Cast <to = 1> (s)
      k = ReduceSum (f)
      d = Concat <axis = 0> (v, v)
      w = Add (d, k)
    }>
  })");
  CHECK(op_types(subgraph(model.graph(), 0, "then_branch")) == "Neg");
  CHECK(op_types(subgraph(model.graph(), 1, "body")) == "Identity Shape Cast ReduceSum Concat Add");
}
