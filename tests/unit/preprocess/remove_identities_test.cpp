#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model shared_weight() {
  return text_model(
      R"(agraph (float[2] x, bool p) => (float[2] y, float[2] z) <float[2] w = {1, 2}> {
    w2 = Identity (w)
    w3 = Identity (w2)
    x2 = Identity (x)
    a = Add (x2, w3)
    y = If (p) <
      then_branch = yes () => (float[2] b) { w4 = Identity (w3) b = Add (a, w4) },
      else_branch = no () => (float[2] c) { c = Identity (w2) }
    >
    z = Identity (w)
  })");
}

}  // namespace

TEST_CASE("readers of copies of an initializer read the initializer", "[preprocess]") {
  Model model = shared_weight();
  const Model before = model.clone();
  remove_identities(model);

  CHECK(op_types(model.graph()) == "Identity Add If Identity");
  CHECK(model.graph().node(1).input(1) == "w");
  CHECK(op_types(subgraph(model.graph(), 2, "then_branch")) == "Add");
  CHECK(subgraph(model.graph(), 2, "then_branch").node(0).input(1) == "w");
  CHECK(subgraph(model.graph(), 2, "else_branch").node(0).input(0) == "w");
  CHECK(difference(before, model, 1) == 0);
  CHECK(difference(before, model, 2) == 0);
}

TEST_CASE("a copy of an initializer that callers may replace stays", "[preprocess]") {
  Model model =
      text_model(R"(agraph (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> {
    w2 = Identity (w)
    y = Add (x, w2)
  })");
  remove_identities(model);
  CHECK(op_types(model.graph()) == "Identity Add");
}
