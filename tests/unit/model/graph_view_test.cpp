#include "model/graph_view.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::text_proto;

namespace {

/// `x` is read twice by one node; `t` is read by a node and by a branch, `late` by a branch of a
/// branch alone.
onnx::ModelProto branching_model() {
  return text_proto(
      R"(g (float[N,4] x, bool c, float[1] d = {1}) => (float[N,4] y) <float[4] w = {1, 2, 3, 4}, float[N,4] t, float u> {
      t = Mul(x, x)
      u = Add(t, w)
      late = Neg(u)
      y = If(c) <then_branch = th () => (float[N,4] a) {
                   a = If(c) <then_branch = deep () => (float[N,4] e) { e = Add(late, w) },
                              else_branch = flat () => (float[N,4] f) { q = Abs(t) f = Exp(q) }> },
                 else_branch = el () => (float[N,4] b) { b = Identity(x) }>
    })");
}

}  // namespace

TEST_CASE("graph view: knows makers and readers", "[model]") {
  const onnx::ModelProto model = branching_model();
  const GraphView view(model.graph());
  CHECK(view.node_count() == 4);
  CHECK(view.producer_of("t") == 0);
  CHECK(view.producer_of("y") == 3);
  CHECK(view.producer_of("x") == -1);
  CHECK(view.producer_of("w") == -1);
  CHECK(view.producer_of("nowhere") == -1);
  const auto uses = view.uses_of("x");
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].node == 0);
  CHECK(uses[1].slot == 1);
  REQUIRE(view.uses_of("t").size() == 1);
  CHECK(view.uses_of("t")[0].node == 1);
  CHECK(view.uses_of("y").empty());
  CHECK(view.uses_of("nowhere").empty());
}

TEST_CASE("graph view: knows what subgraphs read from outside, however deep", "[model]") {
  const onnx::ModelProto model = branching_model();
  const GraphView view(model.graph());
  for (const char* captured : {"t", "late", "w", "x", "c"}) CHECK(view.is_captured(captured));
  for (const char* inner : {"u", "q", "a", "e", "y"}) CHECK_FALSE(view.is_captured(inner));
}

TEST_CASE("graph view: knows inputs, outputs and initializers", "[model]") {
  const onnx::ModelProto model = branching_model();
  const GraphView view(model.graph());
  CHECK(view.is_graph_input("x"));
  CHECK(view.is_graph_input("d"));
  CHECK_FALSE(view.is_graph_input("w"));
  CHECK(view.is_graph_output("y"));
  CHECK_FALSE(view.is_graph_output("t"));
  REQUIRE(view.initializer("w") != nullptr);
  CHECK(view.initializer("d") != nullptr);
  CHECK(view.initializer("x") == nullptr);
}

TEST_CASE("graph view: tells type and shape from whatever says them", "[model]") {
  const onnx::ModelProto model = branching_model();
  const GraphView view(model.graph());
  CHECK(view.type_of("x") == ElementType::Float);
  CHECK(view.type_of("c") == ElementType::Bool);
  CHECK(view.type_of("w") == ElementType::Float);
  CHECK(view.type_of("t") == ElementType::Float);
  CHECK(view.type_of("late") == ElementType::Undefined);
  CHECK(view.shape_of("t") == std::vector<std::int64_t>{-1, 4});
  CHECK(view.shape_of("w") == std::vector<std::int64_t>{4});
  CHECK_FALSE(view.shape_of("late"));
}

TEST_CASE("graph view: names that are made up meet no other", "[model]") {
  const onnx::ModelProto model = branching_model();
  NameAllocator names(model.graph());
  CHECK(names.unique("new") == "new");
  CHECK(names.unique("new") == "new_1");
  CHECK(names.unique("new") == "new_2");
  CHECK(names.unique("q") == "q_1");
  CHECK(names.unique("x") == "x_1");
}

TEST_CASE("graph view: every graph is visited, outer ones first", "[model]") {
  onnx::ModelProto model = branching_model();
  std::string order;
  for_each_graph(model.graph(),
                 [&](const onnx::GraphProto& graph) { order += graph.name() + " "; });
  CHECK(order == "g th deep flat el ");
  for_each_graph(*model.mutable_graph(),
                 [](onnx::GraphProto& graph) { graph.set_doc_string("seen"); });
  CHECK(model.graph().node(3).attribute(0).g().node(0).attribute(1).g().doc_string() == "seen");
}
