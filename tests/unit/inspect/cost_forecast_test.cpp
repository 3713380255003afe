#include "inspect/cost_forecast.h"

#include "catch.h"
#include "inspect/cost_table.h"
#include "quantize/plan_builder.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

CostForecast cost_of(const std::string& text) {
  const Model model = text_model(text);
  return forecast_cost(model, model,
                       draft_plan(model, QuantizationConfig(), placement_for(Preset::Cpu)));
}

}  // namespace

TEST_CASE("cost: large layers are faster in integers, depthwise ones are not", "[inspect]") {
  CHECK(integer_layer_us({LayerKind::Conv, 64, 1e8}) <
        0.5 * float_layer_us({LayerKind::Conv, 64, 1e8}));
  CHECK(integer_layer_us({LayerKind::Depthwise, 1, 1e6}) >
        float_layer_us({LayerKind::Depthwise, 1, 1e6}));
  CHECK(integer_layer_us({LayerKind::UnevenDepthwise, 1, 1e6}) >
        3 * integer_layer_us({LayerKind::Depthwise, 1, 1e6}));
}

TEST_CASE("cost: a product of many rows and columns gains, a small one does not", "[inspect]") {
  std::string weight = "1";
  for (int i = 1; i < 128 * 128; ++i) weight += ", 1";
  const auto ratio = [&](const std::string& rows) {
    return cost_of("agraph (float[" + rows + ",128] x) => (float[" + rows +
                   ",128] y) <float[128,128] w = {" + weight + "}> { y = MatMul (x, w) }")
        .ratio();
  };
  CHECK(ratio("1") > 1);
  CHECK(ratio("1000") < 0.6);
}

TEST_CASE("cost: nodes of unknown size are counted", "[inspect]") {
  CHECK(cost_of("agraph (float[N,2] x) => (float[N,2] y) { y = Exp (x) }").unknown_nodes == 1);
}

TEST_CASE("cost: of branches that may run the dearest counts, others not", "[inspect]") {
  const auto of = [](const std::string& condition) {
    return cost_of(
        "agraph (float[900,9] x, bool c) => (float[900,9] y) "
        "<bool yes = {1}, bool no = {0}> { y = If (" +
        condition + R"() <
      then_branch = a () => (float[900,9] b) { b = Exp (x) },
      else_branch = d () => (float[900,9] e) { f = Exp (x) g = Exp (f) e = Exp (g) }
    > })");
  };
  const CostForecast then = of("yes"), other = of("no"), either = of("c");
  CHECK(then.float_us < other.float_us);
  CHECK(either.float_us == other.float_us);
  CHECK(then.nodes == 2);
  CHECK(either.nodes == 4);
}

TEST_CASE("cost: the body of a loop counts as often as it runs", "[inspect]") {
  const auto of = [](const std::string& rounds) {
    return cost_of("agraph (float[90,9] x) => (float[90,9] y) <int64 n = {" + rounds +
                   R"(}, bool p = {1}> {
      y = Loop (n, p, x) <body = step (int64 i, bool go, float[90,9] v) => (bool on, float[90,9] w)
        { on = Identity (go) w = Exp (v) }>
    })")
        .float_us;
  };
  CHECK(of("11") - of("1") == Approx(10 * (of("2") - of("1"))));
  CHECK(of("2") > of("1"));
}
