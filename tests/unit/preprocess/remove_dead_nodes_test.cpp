#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("nodes and initializers that no output depends on go", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2] x, float[2] spare) => (float[2] y)
    <float[2] w = {1, 2}, float[2] v = {3, 4}, float[2] u = {5, 6}, float[2] dead1, float[2] a> {
      dead1 = Add (x, v)
      dead2 = Relu (dead1)
      a = Add (x, w)
      y = Relu (a)
    })");
  const Model before = model.clone();
  remove_dead_nodes(model);

  CHECK(op_types(model.graph()) == "Add Relu");
  CHECK(initializer_names(model.graph()) == "w");
  CHECK(model.graph().input_size() == 2);
  REQUIRE(model.graph().value_info_size() == 1);
  CHECK(model.graph().value_info(0).name() == "a");
  CHECK(difference(before, model) == 0);
}

TEST_CASE("what a subgraph reads from outside is kept, what it does not need goes",
          "[preprocess]") {
  Model model = text_model(
      R"(agraph (float[2] x, bool p) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {3, 4}> {
    a = Add (x, w)
    b = Add (x, v)
    y = If (p) <
      then_branch = yes () => (float[2] t) { t = Relu (a) unused = Relu (b) },
      else_branch = no () => (float[2] e) { e = Neg (x) }
    >
  })");
  const Model before = model.clone();
  remove_dead_nodes(model);

  CHECK(op_types(model.graph()) == "Add If");
  CHECK(initializer_names(model.graph()) == "w");
  CHECK(op_types(subgraph(model.graph(), 1, "then_branch")) == "Relu");
  CHECK(difference(before, model, 1) == 0);
  CHECK(difference(before, model, 2) == 0);
}

TEST_CASE("a node with one output in use keeps the others; a default for callers stays",
          "[preprocess]") {
  Model model =
      text_model(R"(agraph (float[4] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> {
    y, other = Split (x)
  })");
  remove_dead_nodes(model);
  CHECK(model.graph().node(0).output_size() == 2);
  CHECK(initializer_names(model.graph()) == "w");
}
