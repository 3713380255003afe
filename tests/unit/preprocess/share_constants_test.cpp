#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// A model whose branches hold a constant of 256 numbers each.
Model branches(float of_first, float of_second) {
  Model model = text_model(R"(agraph (float[256] x, bool p) => (float[256] y) {
    y = If (p) <
      then_branch = yes () => (float[256] t) <float[1] a = {1}> { t = Add (x, a) },
      else_branch = no () => (float[256] e) <float[1] b = {1}> { e = Sub (x, b) }
    >
  })");
  const std::vector<std::int64_t> shape{256};
  int branch = 0;
  for (const float value : {of_first, of_second}) {
    const std::vector<float> values(256, value);
    auto& body = *model.graph().mutable_node(0)->mutable_attribute(branch)->mutable_g();
    const std::string name = body.initializer(0).name();
    *body.mutable_initializer(0) = make_float_tensor(name, ElementType::Float, shape, values);
    ++branch;
  }
  return model;
}

}  // namespace

TEST_CASE("a constant that two branches hold goes to the main graph, once", "[preprocess]") {
  Model model = branches(0.5F, 0.5F);
  const Model before = model.clone();
  share_constants(model);
  CHECK(initializer_names(model.graph()) == "a");
  for (const char* name : {"then_branch", "else_branch"}) {
    const auto& body = subgraph(model.graph(), 0, name);
    CHECK(initializer_names(body).empty());
    CHECK(body.node(0).input(1) == "a");
  }
  CHECK(difference(before, model, 1) == 0);
  CHECK(difference(before, model, 2) == 0);
}

TEST_CASE("constants of branches that differ stay where they are", "[preprocess]") {
  Model model = branches(0.5F, 0.25F);
  share_constants(model);
  CHECK(initializer_names(model.graph()).empty());
  CHECK(initializer_names(subgraph(model.graph(), 0, "else_branch")) == "b");
}

TEST_CASE("a branch reads a constant that the main graph holds as well", "[preprocess]") {
  Model model = branches(0.5F, 0.25F);
  const std::vector<std::int64_t> shape{256};
  *model.graph().add_initializer() =
      make_float_tensor("outer", ElementType::Float, shape, std::vector<float>(256, 0.25F));
  auto& reader = *model.graph().add_node();
  reader.set_op_type("Neg");
  reader.add_input("outer");
  reader.add_output("z");
  *model.graph().add_output() = model.graph().output(0);
  model.graph().mutable_output(1)->set_name("z");
  const Model before = model.clone();
  share_constants(model);
  CHECK(initializer_names(model.graph()) == "outer");
  CHECK(initializer_names(subgraph(model.graph(), 0, "then_branch")) == "a");
  CHECK(subgraph(model.graph(), 0, "else_branch").node(0).input(1) == "outer");
  CHECK(difference(before, model, 1) == 0);
}
