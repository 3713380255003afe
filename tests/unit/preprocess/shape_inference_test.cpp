#include "preprocess/shape_inference.h"

#include "catch.h"
#include "graph_text.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;
using Shape = std::vector<std::int64_t>;

namespace {

std::vector<std::string> infer(Model& model) {
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  return notes;
}

}  // namespace

TEST_CASE("types and shapes of all values are found, symbols kept", "[preprocess]") {
  Model model = text_model(
      R"(agraph (float[N,4] x) => (float[N,2] y) <float[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}> {
    a = MatMul (x, w)
    s = Shape (a)
    y = Relu (a)
  })");
  CHECK(infer(model).empty());

  const GraphView view(model.graph());
  CHECK(view.type_of("a") == ElementType::Float);
  CHECK(view.shape_of("a") == Shape{-1, 2});
  CHECK(view.type_of("s") == ElementType::Int64);
  const auto& value = model.graph().value_info();
  const auto a =
      std::find_if(value.begin(), value.end(), [](const auto& each) { return each.name() == "a"; });
  REQUIRE(a != value.end());
  CHECK(a->type().tensor_type().shape().dim(0).dim_param() == "N");
}

TEST_CASE("a second inference adds nothing", "[preprocess]") {
  Model model = text_model(R"(agraph (float[N,3] x, int64[K] s) => (y) {
    a = Reshape (x, s)
    b = Transpose (a)
    y = Relu (b)
  })");
  infer(model);
  const std::string once = model.proto().SerializeAsString();
  infer(model);
  CHECK(model.proto().SerializeAsString() == once);
}

TEST_CASE("shapes that hang on arithmetic over shapes are found", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2,3,4] x) => (float[A,B] y)
    <int64[1] first = {0}, int64[1] rest = {-1}> {
    s = Shape (x)
    n = Gather (s, first)
    t = Concat <axis = 0> (n, rest)
    y = Reshape (x, t)
  })");
  Model plain = model.clone();
  infer(model);
  CHECK(GraphView(model.graph()).shape_of("y") == Shape{2, 12});

  std::vector<std::string> notes;
  ShapeInference(plain, notes, ShapeInference::Values::Ignore).run();
  CHECK(GraphView(plain.graph()).shape_of("y") == Shape{-1, -1});
}

TEST_CASE("inference goes on behind a node that it cannot handle", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2,3] x, float[4,5] z) => (y, u) {
    bad = MatMul (x, z)
    y = Relu (bad)
    u = Neg (x)
  })");
  const auto notes = infer(model);
  REQUIRE(notes.size() >= 1);
  CHECK(notes[0] ==
        "shapes: node making 'bad' (MatMul): Incompatible dimensions for matrix multiplication");
  CHECK(GraphView(model.graph()).shape_of("u") == Shape{2, 3});
}

TEST_CASE("what follows from the graph wins over what value_info claims", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2,3] x) => (float[2,3] y) <float[7,7] a> {
    a = Relu (x)
    y = Neg (a)
  })");
  const auto notes = infer(model);
  CHECK(GraphView(model.graph()).shape_of("a") == Shape{2, 3});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] ==
        "shapes: value 'a': Inferred shape and existing shape differ in dimension 0: (2) vs (7)");
}

TEST_CASE("what the model says of its outputs stays, the graph behind them follows what is true",
          "[preprocess]") {
  Model model = text_model(R"(agraph (float[2,3] x) => (float[9,9] a, float z) {
    a = Relu (x)
    b = Neg (a)
    z = ReduceSum (b)
  })");
  infer(model);
  const GraphView view(model.graph());
  CHECK(view.shape_of("a") == Shape{9, 9});
  CHECK(view.shape_of("b") == Shape{2, 3});
}

TEST_CASE("branches and loop bodies get types too", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2,3] x, bool p, int64 n) => (y, z) {
    y = If (p) <
      then_branch = yes () => (t) { a = Relu (x) t = Neg (a) },
      else_branch = no () => (e) { e = Neg (x) }
    >
    z = Loop (n, p, x) <body = step (i, go, v) => (on, w) {
      on = Identity (go)
      u = Relu (v)
      w = Neg (u)
    }>
  })");
  infer(model);
  const GraphView view(model.graph());
  CHECK(view.shape_of("y") == Shape{2, 3});
  CHECK(view.type_of("z") == ElementType::Float);
  CHECK(GraphView(subgraph(model.graph(), 0, "then_branch")).shape_of("a") == Shape{2, 3});
  CHECK(GraphView(subgraph(model.graph(), 1, "body")).type_of("u") == ElementType::Float);
}

TEST_CASE("a contrib operator does not end inference, in subgraphs neither", "[preprocess]") {
  Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    agraph (float[N,16] x, bool p) => (y) {
      a = com.microsoft.FastGelu (x)
      b = Neg (a)
      y = If (p) <
        then_branch = yes () => (t) { c = com.microsoft.Gelu (b) t = Relu (c) },
        else_branch = no () => (e) { e = Neg (b) }
      >
    })");
  infer(model);
  CHECK(GraphView(model.graph()).shape_of("b") == Shape{-1, 16});
  CHECK(GraphView(subgraph(model.graph(), 2, "then_branch")).type_of("c") == ElementType::Float);
  CHECK(GraphView(model.graph()).type_of("y") == ElementType::Float);
}

TEST_CASE("an initializer that callers may replace says nothing of shapes", "[preprocess]") {
  Model model = text_model(R"(agraph (float[6] x, int64[2] s) => (float y) <int64[2] s = {2, 3}> {
    r = Reshape (x, s)
    y = ReduceSum <keepdims = 0> (r)
  })");
  infer(model);
  CHECK(GraphView(model.graph()).shape_of("r") == Shape{-1, -1});
}
