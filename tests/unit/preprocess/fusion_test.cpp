#include "preprocess/fusion.h"

#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr const char* kNumbers =
    "<float zero = {0}, float one = {1}, float two = {2}, float three = {3}, float six = {6}, "
    "float sixth = {0.16666667}, float half = {0.5}, float fifth = {0.2}, float root = "
    "{1.4142135}, "
    "float inverse = {0.70710677}, float cubic = {0.044715}, float slope = {0.7978846}, "
    "float k = {1.702}, float eps = {0.00001}, float tiny = {1e-12}, int64[1] last = {-1}, "
    "float minus = {-0.5}, float[4] w = {1, 2, 3, 4}, float[4] b = {4, 3, 2, 1}>";

/// A model of that opset with the body above.
Model model_of(int opset, const std::string& body, const std::string& input = "float[2,3,4] x") {
  return text_model("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                    "]> agraph (" + input + ") => (float[A,B,C] y) " + kNumbers + " { " + body +
                    " }");
}

std::string left(int opset, const std::string& body, const std::function<bool(Model&)>& pass,
                 double tolerance = 2e-6) {
  return op_types(after_pass(model_of(opset, body), pass, tolerance).graph());
}

}  // namespace

TEST_CASE("all ways to write hard swish become it, or its two halves", "[preprocess]") {
  for (const std::string body :
       {"a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) y = Div (m, six)",
        "a = Add (three, x) c = Clip (a, zero, six) m = Mul (c, x) y = Mul (sixth, m)",
        "a = Add (x, three) c = Clip (a, zero, six) d = Div (c, six) y = Mul (x, d)",
        "a = Add (x, three) c = Clip (a, zero, six) d = Mul (x, sixth) y = Mul (d, c)",
        "a = Add (x, three) r = Relu (a) c = Min (r, six) d = Div (c, six) y = Mul (d, x)",
        "d = Mul (x, sixth) a = Add (d, half) c = Clip (a, zero, one) y = Mul (x, c)",
        "h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (x, h)"}) {
    CAPTURE(body);
    CHECK(left(17, body, fuse_hard_swish) == "HardSwish");
    CHECK(left(13, body, fuse_hard_swish) == "HardSigmoid Mul");
  }
}

TEST_CASE("the value that hard swish is made of may itself be a sum", "[preprocess]") {
  CHECK(left(13,
             "s = Add (x, half) a = Add (s, three) c = Clip (a, zero, six) m = Mul (s, c) "
             "y = Div (m, six)",
             fuse_hard_swish) == "Add HardSigmoid Mul");
}

TEST_CASE("a clipped line that ends at one is a hard sigmoid", "[preprocess]") {
  CHECK(left(13, "m = Mul (x, fifth) a = Add (m, half) y = Clip (a, zero, one)", fuse_hard_swish) ==
        "HardSigmoid");
  CHECK(left(13, "a = Add (x, three) c = Clip (a, zero, six) y = Div (c, six)", fuse_hard_swish) ==
        "HardSigmoid");
}

TEST_CASE("clamps that are no gates stay", "[preprocess]") {
  CHECK(left(17, "y = Clip (x, zero, six)", fuse_hard_swish) == "Clip");
  CHECK(left(17, "c = Clip (x, zero, six) y = Div (c, six)", fuse_hard_swish) == "Clip Div");
  CHECK(left(17, "a = Add (x, three) c = Clip (a, one, six) m = Mul (x, c) y = Div (m, six)",
             fuse_hard_swish) == "Add Clip Mul Div");
  CHECK(left(17, "a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) y = Div (m, three)",
             fuse_hard_swish) == "Add Clip Mul Div");
}

TEST_CASE("all ways to write Gelu become it", "[preprocess]") {
  const auto fuse = [](Model& model) { return fuse_gelu(model, Operators::Standard); };
  for (const std::string body :
       {"d = Div (x, root) e = Erf (d) a = Add (e, one) m = Mul (x, a) y = Mul (m, half)",
        "d = Mul (x, inverse) e = Erf (d) a = Add (one, e) m = Mul (half, a) y = Mul (m, x)",
        "h = Mul (x, half) d = Div (x, root) e = Erf (d) a = Add (e, one) y = Mul (a, h)"}) {
    CAPTURE(body);
    CHECK(left(20, body, fuse) == "Gelu");
    CHECK(left(19, body, fuse).find("Erf") != std::string::npos);
    CHECK(left(17, body, [](Model& model) { return fuse_gelu(model, Operators::Contrib); }) ==
          "Gelu");
  }
}

TEST_CASE("Gelu by tanh becomes Gelu, or FastGelu where that is asked for", "[preprocess]") {
  const std::string body =
      "c = Pow (x, three) k3 = Mul (c, cubic) s = Add (x, k3) t = Mul (s, slope) h = Tanh (t) "
      "a = Add (h, one) m = Mul (x, a) y = Mul (m, half)";
  const std::string products =
      "q = Mul (x, x) c = Mul (q, cubic) o = Add (c, one) s = Mul (x, o) t = Mul (s, slope) "
      "h = Tanh (t) a = Add (h, one) m = Mul (x, half) y = Mul (m, a)";
  for (const std::string& each : {body, products}) {
    CAPTURE(each);
    CHECK(left(20, each, [](Model& model) { return fuse_gelu(model, Operators::Standard); }) ==
          "Gelu");
    CHECK(left(17, each, [](Model& model) { return fuse_gelu(model, Operators::Contrib); }) ==
          "FastGelu");
  }
}

TEST_CASE("what only looks like Gelu stays", "[preprocess]") {
  const auto fuse = [](Model& model) { return fuse_gelu(model, Operators::Standard); };
  CHECK(left(20, "d = Div (x, two) e = Erf (d) a = Add (e, one) m = Mul (x, a) y = Mul (m, half)",
             fuse) == "Div Erf Add Mul Mul");
}

TEST_CASE("layer normalization is recognised with and without bias", "[preprocess]") {
  const std::string start =
      "m = ReduceMean (x, last) s = Sub (x, m) q = Pow (s, two) v = ReduceMean (q, last) "
      "e = Add (v, eps) r = Sqrt (e) d = Div (s, r) ";
  CHECK(left(18, start + "t = Mul (d, w) y = Add (t, b)", fuse_layer_normalization) ==
        "LayerNormalization");
  CHECK(left(18, start + "y = Mul (w, d)", fuse_layer_normalization) == "LayerNormalization");
  CHECK(left(18,
             "m = ReduceMean (x, last) s = Sub (x, m) q = Mul (s, s) v = ReduceMean (q, last) "
             "e = Add (eps, v) r = Pow (e, minus) d = Mul (s, r) t = Mul (d, w) y = Add (b, t)",
             fuse_layer_normalization) == "LayerNormalization");
  CHECK(left(18, start + "y = Mul (d, two)", fuse_layer_normalization).find("ReduceMean") == 0);
}

TEST_CASE("root mean square normalization is one operator from opset 23 on", "[preprocess]") {
  const std::string body =
      "q = Mul (x, x) v = ReduceMean (q, last) e = Add (v, eps) r = Sqrt (e) i = Reciprocal (r) "
      "d = Mul (x, i) y = Mul (d, w)";
  CHECK(left(23, body, fuse_rms_normalization) == "RMSNormalization");
  CHECK(left(22, body, fuse_rms_normalization).find("Mul ReduceMean") == 0);
}

TEST_CASE("x times its sigmoid is QuickGelu where that is asked for", "[preprocess]") {
  const auto fuse = [](Model& model) { return fuse_silu(model, Operators::Contrib); };
  CHECK(left(17, "s = Sigmoid (x) y = Mul (x, s)", fuse) == "QuickGelu");
  CHECK(left(17, "a = Mul (x, k) s = Sigmoid (a) y = Mul (s, x)", fuse) == "QuickGelu");
  CHECK(left(17, "a = Neg (x) s = Sigmoid (a) y = Mul (s, x)", fuse) == "Neg Sigmoid Mul");
  CHECK(left(17, "s = Sigmoid (x) y = Mul (x, s)",
             [](Model& model) { return fuse_silu(model, Operators::Standard); }) == "Sigmoid Mul");
}

TEST_CASE("x times its sigmoid is Swish at the one opset where ONNX Runtime runs that",
          "[preprocess]") {
  const std::string body = "s = Sigmoid (x) y = Mul (x, s)";
  const auto fuse = [](Model& model) { return fuse_silu(model, Operators::Standard); };
  CHECK(left(24, body, fuse) == "Swish");
  CHECK(left(25, body, fuse) == "Sigmoid Mul");
  CHECK(left(25, body, [](Model& model) { return fuse_silu(model, Operators::Contrib); }) ==
        "QuickGelu");
}

TEST_CASE("a vector by its length is LpNormalization", "[preprocess]") {
  CHECK(left(18, "n = ReduceL2 (x, last) c = Clip (n, tiny) y = Div (x, c)",
             fuse_lp_normalization) == "LpNormalization");
  CHECK(left(18, "n = ReduceL2 (x, last) c = Clip (n, eps) y = Div (x, c)",
             fuse_lp_normalization) == "ReduceL2 Clip Div");
}

TEST_CASE("blocks moved to the channels are SpaceToDepth, in another order they are not",
          "[preprocess]") {
  const auto moved = [](const std::string& perm) {
    return left_by(
        "agraph (float[1,3,4,6] x) => (float[1,12,2,3] y) "
        "<int64[6] s = {1,3,2,2,3,2}, int64[4] t = {1,12,2,3}> { a = Reshape (x, s) "
        "p = Transpose <perm = [" +
            perm + "]> (a) y = Reshape (p, t) }",
        fuse_space_to_depth, 0);
  };
  CHECK(moved("0, 3, 5, 1, 2, 4") == "SpaceToDepth");
  CHECK(moved("0, 1, 3, 5, 2, 4") == "Reshape Transpose Reshape");
}
