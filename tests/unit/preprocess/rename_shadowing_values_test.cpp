#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("a subgraph's initializer that hides an outer value gets a name of its own",
          "[preprocess]") {
  Model model = text_model(R"(agraph (float[2] x, bool p) => (float[2] y, float[2] a) {
    a = Neg (x)
    y = If (p) <
      then_branch = yes () => (float[2] t) <float[2] a = {5, 6}> { t = Identity (a) },
      else_branch = no () => (float[2] e) { e = Identity (a) }
    >
  })");
  const Model before = model.clone();
  rename_shadowing_values(model);

  const auto& yes = subgraph(model.graph(), 1, "then_branch");
  CHECK(initializer_names(yes) == "a_1");
  CHECK(yes.node(0).input(0) == "a_1");
  CHECK(subgraph(model.graph(), 1, "else_branch").node(0).input(0) == "a");
  CHECK(difference(before, model, 1) == 0);
  CHECK(difference(before, model, 2) == 0);
}

TEST_CASE("a loop variable that hides an outer value is renamed with all its readers",
          "[preprocess]") {
  Model model = text_model(R"(agraph (float[2] x, int64 n, bool p) => (float[2] y) {
    a = Neg (x)
    y = Loop (n, p, a) <body = step (int64 i, bool go, float[2] a) => (bool on, float[2] out) {
      on = Identity (go)
      out = Add (a, x)
    }>
  })");
  const Model before = model.clone();
  rename_shadowing_values(model);

  const auto& body = subgraph(model.graph(), 1, "body");
  CHECK(body.input(2).name() == "a_1");
  CHECK(body.node(1).input(0) == "a_1");
  CHECK(body.node(1).input(1) == "x");
  CHECK(difference(before, model) == 0);
}
