#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// Operators left of `body`, which makes `c` of `x`, and a layer that reads it.
std::string left(const std::string& body, const std::string& layer) {
  return left_by(
      "agraph (float[1,2,5,5] x, float[3,2] m, float[1,1,5,5] s) => (float y) "
      "<float[1] k = {2}, float[2,1,1] p = {0.5, -3}, float[1,2,1,1] o = {4, 5}, "
      "float none = {0}, float[2] n = {3, 7}, "
      "float[3,2,1,1] w = {1, 2, 3, 4, 5, 6}, float[3] b = {1, -1, 0.5}, "
      "float[2,1,3,3] g = {1,2,3,4,5,6,7,8,9,9,8,7,6,5,4,3,2,1}, "
      "float[2,3] u = {1, 2, 3, 4, 5, 6}> { " +
          body + " r = " + layer + " y = ReduceSum <keepdims = 0> (r) }",
      fold_affine_before, 5e-6);
}

}  // namespace

TEST_CASE("what is done to the channels before a layer goes into it", "[preprocess]") {
  CHECK(left("c = Mul (x, p)", "Conv (c, w)") == "Conv ReduceSum");
  CHECK(left("a = Mul (x, p) c = Add (a, o)", "Conv (c, w, b)") == "Conv ReduceSum");
  CHECK(left("a = Div (x, k) c = Sub (k, a)", "Conv <group = 2> (c, g)") == "Conv ReduceSum");
  CHECK(left("a = Mul (m, n) c = Add (a, n)", "Gemm <alpha = 0.5> (c, u, b)") == "Gemm ReduceSum");
  CHECK(left("c = Mul (m, n)", "MatMul (c, u)") == "MatMul ReduceSum");
}

TEST_CASE("where a layer pads with zeros what was added stays an Add", "[preprocess]") {
  CHECK(left("a = Mul (x, p) c = Add (a, o)", "Conv <group = 2, pads = [1, 1, 1, 1]> (c, g)") ==
        "Add Conv ReduceSum");
  CHECK(left("c = Mul (x, p)", "Conv <group = 2, pads = [1, 1, 1, 1]> (c, g)") == "Conv ReduceSum");
  CHECK(left("c = Add (x, o)", "Conv <group = 2, pads = [1, 1, 1, 1]> (c, g)") ==
        "Add Conv ReduceSum");
}

TEST_CASE("a factor of zero that an Add follows stays", "[preprocess]") {
  CHECK(left("a = Mul (x, none) c = Add (a, o)", "Conv <group = 2, pads = [1, 1, 1, 1]> (c, g)") ==
        "Mul Add Conv ReduceSum");
}

TEST_CASE("a constant that gives its input more channels stays", "[preprocess]") {
  CHECK(left("c = Mul (s, p)", "Conv (c, w)") == "Mul Conv ReduceSum");
}
