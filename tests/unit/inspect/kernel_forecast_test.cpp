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

KernelForecast forecast(const std::string& body) {
  const Model model = text_model(kHead + body + " }");
  const KernelForecast out = forecast_kernels(model);
  std::size_t said = 0, made = 0;
  for (const auto& [kernel, count] : out.integer_kernels)
    said += is_integer_kernel(kernel) ? count : 0;
  for (const auto& [kernel, count] : integer_kernels_of(model)) made += count;
  CHECK(said == made);
  return out;
}

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
