#include "quantize/weight_noise.h"

#include "catch.h"
#include "quantize/plan_builder.h"
#include "quantize/planner.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// What is said of `weight` (2 x 3, a channel per column) where one scale stands for all of it.
std::vector<NoisyWeight> noisy(const char* weight, bool per_channel = false) {
  const Model model = text_model(std::string(R"(agraph (float[1,2] x) => (float[1,3] y)
      <float[2,3] w = {)") + weight +
                                 "}> { y = MatMul (x, w) }");
  QuantizationConfig config;
  config.per_channel = per_channel;
  const Placement& placement = placement_for(Preset::Cpu);
  const auto plan = build_plan(model, {{"x", {-1, 1}}, {"y", {-1, 1}}}, {}, config, placement);
  return noisy_weights(model, plan, placement);
}

}  // namespace

TEST_CASE("a weight most channels of which are below the step of its scale is noisy",
          "[quantize]") {
  const auto found = noisy("127, 0.1, 0.2, 127, 0.1, 0.2");
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "w");
  CHECK(found[0].median_sqnr_db == Approx(0));
  CHECK(warning_of(found) ==
        "one scale per weight is too coarse for most channels of 'w' (0.0 dB); use --per-channel");
}

TEST_CASE("one small channel among others makes no weight noisy", "[quantize]") {
  CHECK(noisy("127, 0.1, 50, 127, 0.1, 40").empty());
}

TEST_CASE("a channel of zeros is no channel in noise", "[quantize]") {
  CHECK(noisy("127, 0, 0, 127, 0, 0").empty());
}

TEST_CASE("a scale that a bias raised makes no weight noisy", "[quantize]") {
  const Model model = text_model(R"(agraph (float[1,2] x) => (float[1,2] y)
      <float[2,2] w = {1, 2, 3, 4}> { y = MatMul (x, w) })");
  const Placement& placement = placement_for(Preset::Cpu);
  QuantizationConfig config;
  config.per_channel = false;
  auto plan = build_plan(model, {{"x", {-1, 1}}, {"y", {-1, 1}}}, {}, config, placement);
  for (TensorPlan& tensor : plan.tensors) tensor.params.scales = {100.0F};
  CHECK(noisy_weights(model, plan, placement).empty());
}

TEST_CASE("a weight with a scale per channel is not noisy", "[quantize]") {
  CHECK(noisy("127, 0.1, 0.2, 127, 0.1, 0.2", true).empty());
}

TEST_CASE("noise that an addition thins out may be twice as large", "[quantize]") {
  // The median channel, 0.7 beside 127, has 8 dB.
  constexpr const char* kWeight = "127, 0.7, 0.7, 127, 0.7, 0.7";
  CHECK(noisy(kWeight).size() == 1);
  const auto in_block = [&](const char* nodes) {
    const Model model = text_model(std::string(R"(agraph (float[1,2] x, float[1,3] r)
        => (float[1,3] z) <float[3] b = {1, 2, 3}, float[2,3] w = {)") +
                                   kWeight + "}> { " + nodes + " }");
    QuantizationConfig config;
    config.per_channel = false;
    const Placement& placement = placement_for(Preset::Cpu);
    const TensorRanges ranges{{"x", {-1, 1}}, {"y", {-1, 1}}, {"r", {-1, 1}}, {"z", {-1, 1}}};
    return noisy_weights(model, build_plan(model, ranges, {}, config, placement), placement);
  };
  CHECK(in_block("y = MatMul (x, w)  c = Add (y, b)  z = Add (c, r)").empty());
  CHECK(in_block("y = MatMul (x, w)  z = Add (y, b)").size() == 1);
  CHECK(in_block("y = MatMul (x, w)  c = Relu (y)  z = Add (c, r)").size() == 1);
}

TEST_CASE("of many noisy weights three are named", "[quantize]") {
  const std::vector<NoisyWeight> weights{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}};
  CHECK(warning_of(weights) ==
        "one scale per weight is too coarse for most channels of 'a' (1.0 dB), 'b' (2.0 dB), 'c' "
        "(3.0 dB) and 1 more; use --per-channel");
  CHECK(warning_of({}).empty());
}

TEST_CASE("a draft leaves layers whose weight one scale is too coarse for in float", "[quantize]") {
  const Model model = text_model(R"(agraph (float[1,2] x) => (float[1,3] y)
      <float[2,3] w = {127, 0.1, 0.2, 127, 0.1, 0.2}> { y = MatMul (x, w) })");
  QuantizationConfig config;
  config.per_channel = false;
  const QuantPlan draft = Planner(config, Preset::Cpu).draft(model);
  CHECK(draft.tensors.empty());
  REQUIRE(draft.skipped.size() == 1);
  CHECK(draft.skipped[0].reason == "one scale is too coarse for its weight");
  REQUIRE(draft.warnings.size() == 1);
  CHECK(draft.warnings[0].find("; till then their layers stay in float") != std::string::npos);
}
