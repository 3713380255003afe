#include "catch.h"
#include "graph_text.h"
#include "model/graph_view.h"
#include "preprocess/passes.h"
#include "preprocess/shape_inference.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

struct Folded {
  Model before, after;
  std::vector<std::string> notes;
};

Folded fold(const std::string& text) {
  Folded result{text_model(text), text_model(text), {}};
  ShapeInference(result.after, result.notes).run();
  result.notes.clear();
  fold_constants(result.after, result.notes);
  remove_dead_nodes(result.after);
  return result;
}

}  // namespace

TEST_CASE("a chain of nodes over constants becomes one initializer", "[preprocess]") {
  const Folded folded =
      fold(R"(agraph (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> {
    c = Add (a, b)
    d = Mul (c, b)
    y = Add (x, d)
  })");
  CHECK(op_types(folded.after.graph()) == "Add");
  REQUIRE(initializer_names(folded.after.graph()) == "d");
  CHECK(to_float32(folded.after.tensor(folded.after.graph().initializer(0))) ==
        std::vector<float>{12, 24});
  CHECK(difference(folded.before, folded.after) == 0);
}

TEST_CASE("folding twice is folding once", "[preprocess]") {
  Folded folded = fold(
      R"(agraph (float[2] x) => (float[2] y) <float[2] a = {1, 2}> { c = Exp (a) y = Add (x, c) })");
  const std::string once = folded.after.proto().SerializeAsString();
  fold_constants(folded.after, folded.notes);
  CHECK(folded.after.proto().SerializeAsString() == once);
}

TEST_CASE("constants in branches fold into the branch that reads them", "[preprocess]") {
  const Folded folded = fold(R"(agraph (float[2] x, bool p) => (float[2] y) <float[2] a = {1, 2}> {
    y = If (p) <
      then_branch = yes () => (float[2] t) <float[2] k = {5, 6}> { n = Neg (a) m = Add (n, k) t = Add (x, m) },
      else_branch = no () => (float[2] e) { n2 = Exp (a) e = Add (x, n2) }
    >
  })");
  CHECK(op_types(subgraph(folded.after.graph(), 0, "then_branch")) == "Add");
  CHECK(initializer_names(subgraph(folded.after.graph(), 0, "then_branch")) == "m");
  CHECK(initializer_names(subgraph(folded.after.graph(), 0, "else_branch")) == "n2");
  CHECK(difference(folded.before, folded.after, 1) == 0);
  CHECK(difference(folded.before, folded.after, 2) == 0);
}

TEST_CASE("sizes that come to light by folding fold what hangs on them", "[preprocess]") {
  const Folded folded = fold(R"(agraph (float[1,2] x) => (float[3,2] y)
    <int64[1] six = {6}, int64[1] two = {2}, float[1] one = {1}> {
    three = Div (six, two)
    shape = Concat <axis = 0> (three, two)
    ones = Expand (one, shape)
    y = Add (x, ones)
  })");
  CHECK(op_types(folded.after.graph()) == "Add");
  CHECK(difference(folded.before, folded.after) == 0);
}

TEST_CASE("a small constant is not blown up to terabytes", "[preprocess]") {
  const Folded folded = fold(
      R"(agraph (float[N,4] x) => (float[N,4] y) <float[1] one = {1}, int64[1] big = {1099511627776}> {
    huge = Expand (one, big)
    s = ReduceMax <keepdims = 0> (huge)
    y = Add (x, s)
  })");
  CHECK(op_types(folded.after.graph()) == "Expand ReduceMax Add");
  CHECK(folded.notes.empty());
}

TEST_CASE("a claim of value_info does not hide how large a result is", "[preprocess]") {
  const Folded folded = fold(R"(agraph (float[N,4] x) => (float[N,4] y)
    <float[1] one = {1}, int64[1] a = {1099511627776}, int64[1] b = {1}, int64[1] big, float[1] huge, float s> {
    big = Div (a, b)
    huge = Expand (one, big)
    s = ReduceMax <keepdims = 0> (huge)
    y = Add (x, s)
  })");
  CHECK(op_types(folded.after.graph()) == "Expand ReduceMax Add");
}

TEST_CASE("random, quantizing and branching nodes stay, and so do those that make outputs",
          "[preprocess]") {
  const Folded folded = fold(R"(agraph (float[2] x, bool p) => (float[2] y, float[2] k)
    <float[2] a = {1, 2}, float s = {0.5}, uint8 z = {3}, uint8[2] q = {4, 5}> {
    r = RandomNormalLike (a)
    d = DequantizeLinear (q, s, z)
    k = Neg (a)
    b = Add (x, r)
    y = Add (b, d)
  })");
  CHECK(op_types(folded.after.graph()) == "RandomNormalLike DequantizeLinear Neg Add Add");
}

TEST_CASE("of a constant that is quantized the integers remain", "[preprocess]") {
  const Folded folded = fold(R"(agraph (float[2] x) => (float[2] y)
    <float[2] w = {1, -2.6}, float[2] s = {0.5, 1}, int8[2] z = {0, 0}> {
    q = QuantizeLinear <axis = 0> (w, s, z)
    d = DequantizeLinear <axis = 0> (q, s, z)
    y = Add (x, d)
  })");
  CHECK(op_types(folded.after.graph()) == "DequantizeLinear Add");
  const GraphView view(folded.after.graph());
  REQUIRE(view.initializer("q") != nullptr);
  const Tensor stored = folded.after.tensor(*view.initializer("q"));
  CHECK(stored.type == ElementType::Int8);
  CHECK(stored.bytes == std::vector{std::byte{2}, std::byte{0xFD}});
}

TEST_CASE("an initializer that callers may replace is no constant", "[preprocess]") {
  const Folded folded = fold(
      R"(agraph (float[2] x, float[2] a) => (float[2] y) <float[2] a = {1, 2}> { c = Exp (a) y = Add (x, c) })");
  CHECK(op_types(folded.after.graph()) == "Exp Add");
}

TEST_CASE("a node that ONNX Runtime refuses stays, with a note, and the others are folded",
          "[preprocess]") {
  const Folded folded = fold(R"(agraph (float[2] x) => (float[2] y)
    <float[2] a = {1, 2}, int64[1] bad = {7}, float[2] c = {3, 4}> {
    e = Exp (a)
    g = Gather (c, bad)
    n = Neg (c)
    f = Add (e, n)
    h = Add (f, g)
    y = Add (x, h)
  })");
  CHECK(op_types(folded.after.graph()) == "Gather Add Add");
  REQUIRE(folded.notes.size() == 1);
  CHECK(folded.notes[0].starts_with("folding: node making 'g' (Gather) stays: "));
}

TEST_CASE("a large weight that others read too is not doubled", "[preprocess]") {
  onnx::ModelProto proto =
      text_proto(R"(agraph (float[N,2048] x, int64[N] i) => (float[N,4096] y, float[N,2048] z)
    <float[4096,2048] w, float[2048,4096] t> {
    t = Transpose <perm = [1, 0]> (w)
    y = MatMul (x, t)
    z = Gather (w, i)
  })");
  proto.mutable_graph()->clear_value_info();
  *proto.mutable_graph()->add_initializer() =
      make_tensor("w", ElementType::Float, std::vector<std::int64_t>{4096, 2048},
                  std::vector<std::byte>(4096 * 2048 * 4));
  Model model(std::move(proto));
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  fold_constants(model, notes);
  CHECK(op_types(model.graph()) == "Transpose MatMul Gather");
}
