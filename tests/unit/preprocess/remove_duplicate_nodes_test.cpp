#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("of nodes that compute the same the first serves all readers", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2,4] x, bool p) => (float[2,4] y, float[2,4] z) {
    a = LeakyRelu <alpha = 0.5> (x)
    b = LeakyRelu <alpha = 0.5> (x)
    c = LeakyRelu <alpha = 0.25> (x)
    a2 = Neg (a)
    b2 = Neg (b)
    d = Add (a2, b2)
    y = Add (d, c)
    z = If (p) <
      then_branch = yes () => (float[2,4] t) { n = Neg (b) t = Exp (n) },
      else_branch = no () => (float[2,4] e) { n = Exp (b) e = Neg (n) }
    >
  })");
  const Model before = model.clone();
  remove_duplicate_nodes(model);

  CHECK(op_types(model.graph()) == "LeakyRelu LeakyRelu Neg Add Add If");
  CHECK(op_types(subgraph(model.graph(), 5, "then_branch")) == "Exp");
  CHECK(op_types(subgraph(model.graph(), 5, "else_branch")) == "Exp Neg");
  CHECK(difference(before, model, 1) == 0);
  CHECK(difference(before, model, 2) == 0);
}

TEST_CASE("of two nodes that compute the same the first makes the output", "[preprocess]") {
  const Model before =
      text_model(R"(agraph (float[4] x, bool p) => (float[4] y, float[4] z, float[4] u) {
    a = Neg (x)
    b = Exp (a)
    u = If (p) <
      then_branch = yes () => (float[4] t) { t = Abs (a) },
      else_branch = no () => (float[4] e) { e = Exp (a) }
    >
    y = Neg (x)
    z = Exp (y)
    c = Exp (y)
  })");
  Model model = before.clone();
  remove_duplicate_nodes(model);
  CHECK(op_types(model.graph()) == "Neg Exp If");
  CHECK(model.graph().node(0).output(0) == "y");
  CHECK(model.graph().node(1).output(0) == "z");
  CHECK(subgraph(model.graph(), 2, "then_branch").node(0).input(0) == "y");
  CHECK(difference(before, model) == 0);
}

TEST_CASE("duplicates that are random, make outputs or leave out outputs stay", "[preprocess]") {
  Model model =
      text_model(R"(agraph (float[4] x) => (float[4] y, float[4] z, float[2] u, float[4] r) {
    r1 = RandomNormalLike (x)
    r2 = RandomNormalLike (x)
    r = Sub (r1, r2)
    y = Neg (x)
    z = Neg (x)
    a, b = Split (x)
    c, _ = Split (x)
    u = Add (a, c)
  })");
  model.graph().mutable_node(6)->set_output(1, "");
  remove_duplicate_nodes(model);
  CHECK(op_types(model.graph()) == "RandomNormalLike RandomNormalLike Sub Neg Neg Split Split Add");
}
