#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string left(std::string_view text) {
  return left_by(
      text, [](Model& model) { return remove_no_ops(model); }, 0);
}

}  // namespace

TEST_CASE("copies in a graph and in its branches go", "[preprocess]") {
  CHECK(left(R"(agraph (float[2] x, bool c) => (float[2] y, float[2] z) {
    a = Identity (x)
    b = Identity (a)
    y = If (c) <
      then_branch = yes () => (float[2] d) { e = Identity (b) d = Add (e, a) },
      else_branch = no () => (float[2] f) { f = Neg (b) }
    >
    z = Neg (b)
  })") == "If Neg");
}

TEST_CASE("a copy that makes an output gives its name to what it copies", "[preprocess]") {
  const Model model = after_pass(text_model(R"(agraph (float[2] x) => (float[2] y, float[2] z) {
    a = Neg (x)
    y = Identity (a)
    z = Exp (a)
  })"),
                                 [](Model& each) { return remove_no_ops(each); });
  CHECK(op_types(model.graph()) == "Neg Exp");
  CHECK(model.graph().node(0).output(0) == "y");
  CHECK(model.graph().node(1).input(0) == "y");
}

TEST_CASE("an output that copies an input, a constant or another output stays", "[preprocess]") {
  CHECK(left(R"(agraph (float[2] x) => (float[2] y, float[2] z, float[2] u, float[2] v)
    <float[2] w = {1, 2}> {
    y = Identity (x)
    z = Identity (w)
    u = Neg (x)
    v = Identity (u)
  })") == "Identity Identity Neg Identity");
}

TEST_CASE("a Dropout is a copy without training only", "[preprocess]") {
  CHECK(left(R"(agraph (float[2] x, bool t) => (float[2] y) <float ratio = {0.5}> {
    a = Dropout (x, ratio)
    b = Dropout (a, ratio, t)
    y = Neg (b)
  })")
            .find("Dropout Neg") == 0);
}

TEST_CASE("nodes that change neither values nor shape go", "[preprocess]") {
  const auto one = [](const std::string& body) {
    return left(
        "agraph (float[2,3,4] x) => (float[2,3,4] y) <float one = {1}, float[1] zero = {0}, "
        "int64[6] none = {0,0,0,0,0,0}, int64[1] at = {0}, int64[1] end = {9223372036854775807}, "
        "int64[1] size = {4}, int64[1] axis = {2}, int64[3] shape = {2,3,4}> "
        "{ a = Neg (x) b = " +
        body + " y = Exp (b) }");
  };
  CHECK(one("Cast <to = 1> (a)") == "Neg Exp");
  CHECK(one("Transpose <perm = [0, 1, 2]> (a)") == "Neg Exp");
  CHECK(one("Pad (a, none)") == "Neg Exp");
  CHECK(one("Slice (a, at, end, axis)") == "Neg Exp");
  CHECK(one("Slice (a, at, size, axis)") == "Neg Exp");
  CHECK(one("Reshape (a, shape)") == "Neg Exp");
  CHECK(one("Expand (a, shape)") == "Neg Exp");
  CHECK(one("Concat <axis = 1> (a)") == "Neg Exp");
  CHECK(one("Mul (a, one)") == "Neg Exp");
  CHECK(one("Mul (one, a)") == "Neg Exp");
  CHECK(one("Div (a, one)") == "Neg Exp");
  CHECK(one("Add (a, zero)") == "Neg Exp");
  CHECK(one("Sub (a, zero)") == "Neg Exp");
  CHECK(one("Sub (zero, a)") == "Neg Sub Exp");
  CHECK(one("Pow (a, one)") == "Neg Exp");
}

TEST_CASE("a Reshape to the shape that its input has goes, whatever its free axes are",
          "[preprocess]") {
  CHECK(left(R"(agraph (float[N,4,M] x) => (float[N,4,M] y, float[A,B,C] z)
    <int64[3] same = {0, 4, -1}, int64[3] other = {0, 2, -1}> {
    a = Reshape (x, same)
    y = Neg (a)
    b = Reshape (x, other)
    z = Neg (b)
  })") == "Neg Reshape Neg");
}

TEST_CASE("integers that change no integer go", "[preprocess]") {
  CHECK(left(R"(agraph (int64[N] n, int32[2] m) => (int64[N] y, int32[2] z)
    <int64[1] none = {0}, int64 one = {1}, int32[2] ones = {1, 1}> {
    a = Add (none, n)
    b = Mul (a, one)
    c = Div (b, one)
    y = Neg (c)
    d = Mul (m, ones)
    z = Neg (d)
  })") == "Neg Neg");
}

TEST_CASE("a neutral number that gives the result more axes stays", "[preprocess]") {
  CHECK(left("agraph (float[2] x) => (float[1,2] y) <float[1,1] one = {1}> "
             "{ a = Neg (x) b = Mul (a, one) y = Exp (b) }") == "Neg Mul Exp");
}

TEST_CASE("inside a loop no shape is believed", "[preprocess]") {
  const Model model = after_pass(text_model(R"(agraph (float[2] x) => (float[N] y)
    <int64 n = {2}, bool c = {1}, int64[1] shape = {2}> {
    y = Loop (n, c, x) <body = b (int64 i, bool p, float[2] v) => (bool q, float[2] w) {
      q = Identity (p)
      r = Reshape (v, shape)
      w = Neg (r)
    }>
  })"),
                                 [](Model& each) { return remove_no_ops(each); });
  CHECK(op_types(subgraph(model.graph(), 0, "body")) == "Identity Reshape Neg");
}
