#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// What a convolution over one axis becomes in a framework whose Conv has two.
constexpr const char* kConv1d = R"(agraph (float[2,2,1,5] x) => (float[2,3,1,5] z)
  <float[3,2,1,1] w = {1,2,3,4,5,6}, float[3,3,1,1] v = {1,-2,3,-4,5,-6,7,-8,9},
   float[1,3,1] b = {1,-2,3}, int64[1] axes = {2}> {
    c = Conv (x, w)
    s = Squeeze (c, axes)
    a = Add (s, b)
    r = Relu (a)
    u = Unsqueeze (r, axes)
    z = Conv (u, v)
  })";

std::string sunk(std::string_view text) { return left_by(text, sink_squeezes, 0); }

}  // namespace

TEST_CASE("a Squeeze moves to the Unsqueeze that undoes it", "[preprocess]") {
  CHECK(sunk(kConv1d) == "Conv Add Relu Squeeze Unsqueeze Conv");
  const auto both = [](Model& model) {
    sink_squeezes(model);
    return merge_reshapes(model);
  };
  CHECK(left_by(kConv1d, both, 0) == "Conv Add Relu Conv");
}

TEST_CASE("a Squeeze moves behind what the layer before it can take up", "[preprocess]") {
  constexpr const char* kLast = R"(agraph (float[N,2,L,1] x) => (float[N,3,L] y)
    <float[3,2,1,1] w = {1,2,3,4,5,6}, float[3,1] b = {1,-2,3}, int64[1] axes = {-1}> {
      c = Conv (x, w)
      s = Squeeze (c, axes)
      a = Sub (b, s)
      y = Softmax <axis = 1> (a)
    })";
  CHECK(sunk(kLast) == "Conv Sub Squeeze Softmax");
  const Model model = after_pass(text_model(kLast), sink_squeezes, 0);
  // Readers of the former name read the same values.
  CHECK(model.graph().node(2).output(0) == "a");
  CHECK(model.graph().node(1).output(0) == "a_unsqueezed");
}

TEST_CASE("a Squeeze stays where nothing is gained", "[preprocess]") {
  // Other axes come back.
  CHECK(sunk(R"(agraph (float[1,3,1] x) => (float[1,1,3] y)
    <int64[1] last = {2}, int64[1] first = {1}> {
      s = Squeeze (x, last)
      r = Relu (s)
      y = Unsqueeze (r, first)
    })") == "Squeeze Relu Unsqueeze");
  // No layer stands before it.
  CHECK(sunk(R"(agraph (float[2,1,3] x) => (float[2,3] y)
    <float[3] b = {1,2,3}, int64[1] axes = {1}> {
      s = Squeeze (x, axes)
      y = Add (s, b)
    })") == "Squeeze Add");
  // The squeezed value has another reader.
  CHECK(sunk(R"(agraph (float[2,1,3] x) => (float[2,1,3] y, float[2,3] z) <int64[1] axes = {1}> {
      s = Squeeze (x, axes)
      r = Relu (s)
      y = Unsqueeze (r, axes)
      z = Neg (s)
    })") == "Squeeze Relu Unsqueeze Neg");
  // It is no matter of channels.
  CHECK(sunk(R"(agraph (float[1,2,1,2] x) => (float[1,2,2] y)
    <float[2,2,1,1] w = {1,2,3,4}, float[2] b = {1,-2}, int64[1] axes = {2}> {
      c = Conv (x, w)
      s = Squeeze (c, axes)
      y = Add (s, b)
    })") == "Conv Squeeze Add");
}

TEST_CASE("a constant of more axes than the squeezed value keeps a Squeeze", "[preprocess]") {
  CHECK(sunk(R"(agraph (float[1,3,1] x) => (float[2,1,3,1] y)
    <float[2,1,1] b = {1,2}, int64[1] last = {2}, int64[1] behind = {-1}> {
      s = Squeeze (x, last)
      a = Add (s, b)
      y = Unsqueeze (a, behind)
    })") == "Squeeze Add Unsqueeze");
}

TEST_CASE("axes that are attributes move along", "[preprocess]") {
  CHECK(sunk(R"(<ir_version: 4, opset_import: ["" : 9]>
    agraph (float[2,1,3] x) => (float[2,1,3] y) {
      s = Squeeze <axes = [1]> (x)
      r = Clip <min = 0.0, max = 6.0> (s)
      t = Tanh (r)
      y = Unsqueeze <axes = [1]> (t)
    })") == "Clip Tanh Squeeze Unsqueeze");
}
