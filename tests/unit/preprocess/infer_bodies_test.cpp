#include "catch.h"
#include "graph_text.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"
#include "preprocess/shape_inference.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;
using Shape = std::vector<std::int64_t>;

namespace {

Model inferred(const std::string& text) {
  Model model = text_model(text);
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  return model;
}

std::optional<Shape> shape_of(const Model& model, const std::string& value) {
  return GraphView(model.graph()).shape_of(value);
}

/// Two branches of different rank.
std::string squeeze_or_not(const std::string& condition, const std::string& initializers) {
  return "agraph (float[1,N,3] x, bool c) => (y) <int64[1] axis = {0}, " + initializers + R"(> {
    a = Neg (x)
    s = If ()" +
         condition + R"() <
      then_branch = yes () => (t) { t = Squeeze (a, axis) },
      else_branch = no () => (e) { e = Identity (a) }
    >
    y = Relu (s)
  })";
}

/// A loop that carries `v`, of two rows at first.
std::string loop_of(const std::string& declared, const std::string& body) {
  return "agraph (float[2,3] x, bool p, int64 n) => (z) {"
         "z = Loop (n, p, x) <body = step (i, go, " +
         declared + ") => (on, w) { on = Identity (go) " + body + " }> }";
}

}  // namespace

TEST_CASE("the branch that runs says what an If gives, whatever the other would", "[preprocess]") {
  const Model yes = inferred(squeeze_or_not("p", "bool p = {1}"));
  CHECK(shape_of(yes, "y") == Shape{-1, 3});
  const Model no = inferred(squeeze_or_not("p", "bool p = {0}"));
  CHECK(shape_of(no, "y") == Shape{1, -1, 3});
  CHECK(GraphView(subgraph(no.graph(), 1, "then_branch")).shape_of("t") == Shape{-1, 3});
}

TEST_CASE("of an If that may go either way only what both branches give is known", "[preprocess]") {
  CHECK_FALSE(shape_of(inferred(squeeze_or_not("c", "bool p = {1}")), "y"));
  const Model model = inferred(R"(agraph (float[2,3] x, float[5,3] u, bool c) => (y) {
    y = If (c) <
      then_branch = yes () => (t) { t = Neg (x) },
      else_branch = no () => (e) { e = Neg (u) }
    >
  })");
  CHECK(shape_of(model, "y") == Shape{-1, 3});
}

TEST_CASE("sizes go through an If inside an If, and what its bodies capture", "[preprocess]") {
  const Model model = inferred(R"(agraph (float[4,3] x) => (y) <bool p = {1}> {
    a = Neg (x)
    y = If (p) <
      then_branch = outer () => (t) <bool q = {0}> {
        b = Transpose (a)
        t = If (q) <
          then_branch = yes () => (f) { f = ReduceSum <keepdims = 0> (b) },
          else_branch = no () => (g) { g = MatMul (b, a) }
        >
      },
      else_branch = other () => (e) { e = ReduceMax <keepdims = 0> (a) }
    >
  })");
  CHECK(shape_of(model, "y") == Shape{3, 3});
  const auto& outer = subgraph(model.graph(), 1, "then_branch");
  CHECK(GraphView(outer).shape_of("b") == Shape{3, 4});
  CHECK(GraphView(subgraph(outer, 1, "else_branch")).shape_of("g") == Shape{3, 3});
}

TEST_CASE("conditions that hang on sizes are folded, one after the other", "[preprocess]") {
  Model model = text_model(R"(agraph (float[1,4,3] x) => (float[A] y)
    <int64 first = {0}, int64 one = {1}, int64[1] axis = {0}> {
    s = Shape (x)
    d = Gather (s, first)
    p = Equal (d, one)
    a = If (p) <
      then_branch = yes () => (t) { t = Squeeze (x, axis) },
      else_branch = no () => (e) { e = Identity (x) }
    >
    r = Shape (a)
    f = Gather (r, first)
    q = Equal (f, one)
    b = If (q) <
      then_branch = again () => (g) { g = Squeeze (a, axis) },
      else_branch = not () => (h) { h = Neg (a) }
    >
    y = ReduceSum <keepdims = 0> (b, axis)
  })");
  PreprocessConfig config;
  config.simplify = false;
  preprocess(model, config);
  CHECK(op_types(model.graph()) == "If If ReduceSum");
  CHECK(shape_of(model, "b") == Shape{4, 3});
}

TEST_CASE("what a loop hands on as it came has its shape in the body and behind", "[preprocess]") {
  const Model model = inferred(loop_of("v", "u = Relu (v) w = Add (u, x)"));
  CHECK(shape_of(model, "z") == Shape{2, 3});
  CHECK(GraphView(subgraph(model.graph(), 0, "body")).shape_of("u") == Shape{2, 3});
}

TEST_CASE("a size that grows from round to round is not known, whatever the body declares",
          "[preprocess]") {
  for (const char* declared : {"v", "float[2,3] v"}) {
    const Model model = inferred(loop_of(declared, "w = Concat <axis = 0> (v, x)"));
    CHECK(shape_of(model, "z") == Shape{-1, 3});
  }
}

TEST_CASE("a size that grows is not known where another value takes it over", "[preprocess]") {
  const Model model = inferred(R"(agraph (float[2,3] x, bool p, int64 n) => (y, z) {
    y, z = Loop (n, p, x, x) <body = step (i, go, float[2,3] a, float[2,3] b) => (on, c, d) {
      on = Identity (go)
      c = Concat <axis = 0> (a, x)
      d = Identity (a)
    }>
  })");
  CHECK(shape_of(model, "z") == Shape{-1, 3});
}

TEST_CASE("a loop inside a loop keeps to what ONNX's rules say while sizes are tried",
          "[preprocess]") {
  const Model model = inferred(R"(agraph (float[2,3] x, bool p, int64 n) => (z) {
    z = Loop (n, p, x) <body = step (i, go, v) => (on, w) {
      on = Identity (go)
      w = Loop (n, p, v) <body = inner (j, goes, k) => (stays, m) {
        stays = Identity (goes)
        m = Neg (k)
      }>
    }>
  })");
  CHECK(GraphView(model.graph()).type_of("z") == ElementType::Float);
  CHECK_FALSE(shape_of(model, "z"));
}

TEST_CASE("what a loop stacks is as long as its constant count of rounds", "[preprocess]") {
  const auto stacked = [](const std::string& count) {
    return shape_of(inferred(R"(agraph (float[2,3] x, int64 n) => (z, s)
        <int64 five = {5}, bool p = {1}> {
      z, s = Loop ()" + count +
                             R"(, p, x) <body = step (i, go, v) => (on, w, each) {
        on = Identity (go)
        w = Neg (v)
        each = Exp (v)
      }>
    })"),
                    "s");
  };
  CHECK(stacked("five") == Shape{5, 2, 3});
  CHECK(stacked("n") == Shape{-1, 2, 3});
}

TEST_CASE("the body of a Scan gets what it scans without the axis", "[preprocess]") {
  const Model model = inferred(R"(agraph (float[2,3] h, float[7,2,3] x) => (last, all) {
    last, all = Scan <num_scan_inputs = 1,
      body = step (state, each) => (next, out) {
        next = Add (state, each)
        out = Transpose (next)
      }> (h, x)
  })");
  CHECK(shape_of(model, "last") == Shape{2, 3});
  CHECK(shape_of(model, "all") == Shape{7, 3, 2});
  CHECK(GraphView(subgraph(model.graph(), 0, "body")).shape_of("next") == Shape{2, 3});
}

TEST_CASE("a second inference of bodies adds nothing", "[preprocess]") {
  Model model = inferred(loop_of("v", "w = Concat <axis = 0> (v, x)"));
  const std::string once = model.proto().SerializeAsString();
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  CHECK(model.proto().SerializeAsString() == once);
}
