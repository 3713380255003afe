#include "inspect/kernel_forecast.h"

#include "catch.h"
#include "integer_kernels.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr const char* kHead =
    "agraph (float[1,2,4,4] x) => (float[1,2,4,4] y) <float s = {0.1}, uint8 z = {10}, float t = "
    "{0.2}, int8[2,2,1,1] w = {1, 2, 3, 4}, int8 o = {0}> { q = QuantizeLinear (x, s, z) d = "
    "DequantizeLinear (q, s, z) v = DequantizeLinear (w, s, o) ";

/// Of a model, held against the graph that ONNX Runtime makes of it.
KernelForecast forecast_of(const std::string& text) {
  const Model model = text_model(text);
  const KernelForecast out = forecast_kernels(model);
  std::size_t said = 0, made = 0;
  for (const auto& [kernel, count] : out.integer_kernels)
    said += is_integer_kernel(kernel) ? count : 0;
  for (const auto& [kernel, count] : integer_kernels_of(model)) made += count;
  CHECK(said == made);
  return out;
}

KernelForecast forecast(const std::string& body) { return forecast_of(kHead + body + " }"); }

constexpr const char* kTail = " e = QuantizeLinear (c, s, z) y = DequantizeLinear (e, s, z)";

}  // namespace

TEST_CASE("kernels: a Conv between pairs is one of integers", "[inspect]") {
  CHECK(forecast(std::string("c = Conv (d, v)") + kTail).nodes.front().kernel == "QLinearConv");
}

TEST_CASE("kernels: what keeps a Conv in float is said", "[inspect]") {
  const auto reason = [](const std::string& body) { return forecast(body).nodes.front().reason; };
  CHECK(reason("y = Conv (d, v)") == "its output is one of the graph");
  CHECK(reason(std::string("c = Conv (x, v)") + kTail) == "its input 0 comes as floats");
  CHECK(
      reason("c = Conv (d, v) e = QuantizeLinear (c, s, z) f = DequantizeLinear (e, s, z) y = Add "
             "(f, c)") == "its output is read besides the quantizer");
}

TEST_CASE("kernels: what moves values keeps scale and zero point", "[inspect]") {
  const auto moved = [](const char* scale) {
    return forecast(std::string("c = Transpose (d) e = QuantizeLinear (c, ") + scale +
                    ", z) y = DequantizeLinear (e, " + scale + ", z)")
        .nodes.front()
        .reason;
  };
  CHECK(moved("s").empty());
  CHECK(moved("t") == "its scale or zero point changes");
}

TEST_CASE("kernels: int8 values that two nodes read stay int8", "[inspect]") {
  const auto reason = [](const std::string& other) {
    return forecast_of(
               "agraph (float[1,2,4,4] x) => (float[1,2,4,4] y, float[1,2,4,4] u) <float s = "
               "{0.1}, "
               "int8 z = {10}, int8[2,2,1,1] w = {1, 2, 3, 4}, int8 o = {0}> { q = QuantizeLinear "
               "(x, s, z) d = DequantizeLinear (q, s, z) v = DequantizeLinear (w, s, o) c = Conv "
               "(d, v) e = QuantizeLinear (c, s, z) y = DequantizeLinear (e, s, z) u = " +
               other + " }")
        .nodes.front()
        .reason;
  };
  CHECK(reason("Neg (x)").empty());
  CHECK(reason("Neg (d)") == "reads int8, and the kernels of x64 uint8");
}

TEST_CASE("kernels: int8 constants do not become uint8", "[inspect]") {
  const std::string body =
      "m = Mul (d, k) e = QuantizeLinear (m, s, z) y = DequantizeLinear (e, s, z) }";
  const auto reason = [&](const char* constant) {
    return forecast_of(
               std::string("agraph (float[1,2] x) => (float[1,2] y) <float s = {0.1}, int8 z "
                           "= {10}, float[2] w = {1, 2}> { q = QuantizeLinear (x, s, z) d = "
                           "DequantizeLinear (q, s, z) ") +
               constant + " p = QuantizeLinear (n, s, z) k = DequantizeLinear (p, s, z) " + body)
        .nodes.front()
        .reason;
  };
  CHECK(reason("n = Neg (x)").empty());
  CHECK(reason("n = Neg (w)") == "its inputs have different types");
}

TEST_CASE("kernels: scales in Constant nodes are constants", "[inspect]") {
  const KernelForecast found = forecast_of(
      "agraph (float[1,2] x) => (float[2,1] y) <uint8 z = {10}> { s = Constant <value = float "
      "{0.1}> () q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) c = Transpose (d) e = "
      "QuantizeLinear (c, s, z) y = DequantizeLinear (e, s, z) }");
  CHECK(found.nodes.front().kernel == "Transpose");
}

TEST_CASE("kernels: ONNX Runtime quantizes constants of a Gemm between pairs itself", "[inspect]") {
  const auto gemm = [](const char* nodes) {
    return forecast_of(
               std::string("agraph (float[1,2] x) => (float[1,2] y) <float s = {0.1}, uint8 "
                           "z = {10}, int8 o = {0}, int8[2,2] w = {1, 2, 3, 4}, float[2,2] f "
                           "= {1, 2, 3, 4}, float[2] b = {1, 2}, float[1,2] r = {1, 2}> { q "
                           "= QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) v = "
                           "DequantizeLinear (w, s, o) ") +
               nodes + " }")
        .nodes.front();
  };
  constexpr const char* kPair = " e = QuantizeLinear (c, s, z) y = DequantizeLinear (e, s, z)";
  CHECK(gemm((std::string("c = Gemm (d, v, b)") + kPair).c_str()).kernel == "QGemm");
  CHECK(gemm((std::string("c = Gemm (d, f, b)") + kPair).c_str()).kernel == "QGemm");
  CHECK(gemm((std::string("c = Gemm (d, v, r)") + kPair).c_str()).reason ==
        "its input 2 comes as floats");
  CHECK(gemm("y = Gemm (d, v, b)").reason == "its input 2 comes as floats");
}

TEST_CASE("kernels: a body has the bias, but not the float weight, of the graph around",
          "[inspect]") {
  const auto conv = [](const char* weight) {
    return forecast_of(
               std::string("agraph (bool p, float[1,2,4,4] x) => (float[1,2,4,4] y) <float "
                           "s = {0.1}, uint8 z = {10}, int8 o = {0}, float[2,2,1,1] f = {1, "
                           "2, 3, 4}, float[2] b = {1, 2}, int8[2,2,1,1] w = {1, 2, 3, 4}> "
                           "{ y = If (p) <then_branch = t () => (float[1,2,4,4] yt) { q = "
                           "QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) v = "
                           "DequantizeLinear (w, s, o) c = Conv (d, ") +
               weight +
               ", b) e = QuantizeLinear (c, s, z) yt = DequantizeLinear (e, s, z) }, "
               "else_branch = n () => (float[1,2,4,4] yn) { yn = Neg (x) }> }")
        .nodes.front();
  };
  CHECK(conv("v").kernel == "QLinearConv");
  CHECK(conv("f").reason == "its input 1 comes as floats");
}

TEST_CASE("kernels: a quantizer moves past what moves an input of the graph", "[inspect]") {
  const KernelForecast found = forecast_of(
      "agraph (float[1,2] x) => (float[2,1] y) <float s = {0.1}, uint8 z = {10}> { c = Transpose "
      "(x) q = QuantizeLinear (c, s, z) y = DequantizeLinear (q, s, z) }");
  CHECK(found.nodes.front().kernel == "Transpose");
}

TEST_CASE("kernels: what moves integers between integer operators is one of them", "[inspect]") {
  const KernelForecast found = forecast_of(
      "agraph (float[1,2,4,4] x) => (float[1,2,4,4] y) <float s = {0.1}, uint8 z = {10}, int64[4] "
      "l = {1, 2, 4, 4}> { q = QuantizeLinear (x, s, z) m = Transpose <perm = [0, 1, 3, 2]> (q) n "
      "= Reshape "
      "(m, l) d = DequantizeLinear (n, s, z) y = Neg (d) }");
  REQUIRE(found.nodes.size() == 2);
  CHECK(found.nodes[0].kernel == "Transpose");
  CHECK(found.nodes[1].kernel == "Reshape");
}

TEST_CASE("kernels: a Relu or Clip whose work no quantizer does keeps MatMul and Gemm in float",
          "[inspect]") {
  const auto layer = [](const std::string& tail, const std::string& op = "MatMul") {
    return forecast_of(
               "agraph (float[2,2] x) => (float[2,2] y, float[2,2] u) <float s = {0.1}, uint8 z = "
               "{10}, uint8 n = {0}, int8 o = {0}, float low = {0}, float high = {6}, int8[2,2] w "
               "= {1, 2, 3, 4}> { q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) v = "
               "DequantizeLinear (w, s, o) u = Neg (x) c = " +
               op + " (d, v) " + tail + " }")
        .nodes.front();
  };
  CHECK(layer("r = Relu (c) y = Neg (r)").reason ==
        "no quantizer does the work of the Relu behind it");
  CHECK(layer("r = Clip (c, low, high) y = Neg (r)", "Gemm").reason ==
        "no quantizer does the work of the Clip behind it");
  CHECK(layer("r = Clip (c, low, high) y = Neg (r)").clamp == "r");
  CHECK(layer("y = Relu (c)").kernel == "MatMulIntegerToFloat");
  CHECK(layer("r = Relu (c) y = Add (r, r)", "Gemm").kernel == "QGemm");
  CHECK(layer("r = Max (c, low) y = Neg (r)").kernel == "MatMulIntegerToFloat");
  CHECK(layer("t = Transpose (c) r = Relu (t) y = Neg (r)").kernel == "MatMulIntegerToFloat");
  // The quantizer is moved to where it does the work of the first one, but not of the second.
  const auto moved = [&](const std::string& zero_point) {
    return layer("r = Relu (c) t = Transpose (r) e = QuantizeLinear (t, s, " + zero_point +
                 ") y = DequantizeLinear (e, s, " + zero_point + ")");
  };
  CHECK(moved("n").kernel == "QLinearMatMul");
  CHECK(moved("z").reason == "no quantizer does the work of the Relu behind it");
}
