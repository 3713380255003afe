#include "quantize/measurable.h"

#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

using Names = std::vector<std::string>;

Names measurable(const std::string& text, const QuantizationConfig& config = {}) {
  return measurable_tensors(testing::text_model(text), config);
}

const std::string kNet = R"(agraph (float[N,2] x, int64[1] i) => (float[N,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}, float[N,2] a, float[N,2] e, float[N,2] s, float[N,2] g> {
      [mm] a = Gemm (x, w, b)
      [exp] e = Exp (a)
      [soft] s = Softmax (e)
      [gather] g = Gather (s, i)
      [add] y = Add (g, e)
    })";

}  // namespace

TEST_CASE("measurable tensors: floats around every operator that has a rule", "[quantize]") {
  CHECK(measurable(kNet) == Names{"x", "a", "e", "s", "g", "y"});
}

TEST_CASE("measurable tensors: lists of nodes and excluded types change nothing", "[quantize]") {
  QuantizationConfig config;
  config.nodes_to_exclude = {"mm"};
  config.nodes_to_quantize = {"add"};
  config.op_types_to_exclude = {"Softmax"};
  CHECK(measurable(kNet, config) == measurable(kNet));
}

TEST_CASE("measurable tensors: listed types are the only ones, also without a rule", "[quantize]") {
  QuantizationConfig config;
  config.op_types_to_quantize = {"Exp"};
  CHECK(measurable(kNet, config) == Names{"a", "e"});
}

TEST_CASE("measurable tensors: a computed weight is one, a computed bias is none", "[quantize]") {
  CHECK(measurable(R"(agraph (float[1,2] x, float[2,2] w, float[2] b) => (float[1,2] y)
                     { y = Gemm (x, w, b) })") == Names{"x", "w", "y"});
}

TEST_CASE("measurable tensors: what is quantized already is none", "[quantize]") {
  CHECK(measurable(R"(agraph (int8[1,2] q, float[1,2] x) => (float[1,2] y)
                     <float s = {0.5}, float[1,2] d> { d = DequantizeLinear (q, s) y = Add (d, x) })") ==
        Names{"x", "y"});
}

TEST_CASE("measurable tensors: 16-bit floats are, integers are not", "[quantize]") {
  CHECK(measurable(R"(agraph (float16[2] x) => (float16[2] y) { y = Relu (x) })") ==
        Names{"x", "y"});
  CHECK(measurable(R"(agraph (bfloat16[2] x) => (bfloat16[2] y) { y = Relu (x) })") ==
        Names{"x", "y"});
  CHECK(measurable(R"(agraph (int32[2] x) => (int32[2] y) { y = Relu (x) })").empty());
}

TEST_CASE("measurable tensors: those of bodies stand where their node does, one for each name",
          "[quantize]") {
  CHECK(measurable(R"(agraph (float[2] x, bool c) => (float[2] z) <float[2] y> {
          y = If (c) <
            then_branch = t () => (float[2] p) <float[2] a> { a = Relu (x)  p = Sigmoid (a) },
            else_branch = e () => (float[2] q) <float[2] a> { a = Add (x, x)  q = Exp (a) }>
          z = Relu (y)
        })") == Names{"x", "a", "p", "y", "z"});
}

TEST_CASE("measurable tensors: weights outside of a body are constants in it", "[quantize]") {
  const std::string text = R"(agraph (float[1,2] x, bool c) => (float[1,2] y)
      <float[2,2] w = {1, 2, 3, 4}> {
        y = If (c) <
          then_branch = t () => (float[1,2] p) { p = Gemm (x, w) },
          else_branch = e () => (float[1,2] q) { q = Identity (x) }>
      })";
  CHECK(measurable(text) == Names{"x", "p"});
  CHECK(averageable_tensors(testing::text_model(text), {}) ==
        std::vector<AveragedTensor>{{"x", 1}});
}

}  // namespace qtool
