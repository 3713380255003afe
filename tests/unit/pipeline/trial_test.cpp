#include "pipeline/trial.h"

#include "catch.h"
#include "model/model.h"
#include "quantize/planner.h"
#include "tensor_builder.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr const char* kLayer = R"(agraph (float[1,2] x) => (float[1,2] y)
  <float[2,2] w = {1, 2, 3, 4}> { p = MatMul (x, w) y = Relu (p) })";

std::optional<Trial> trial(const std::vector<NamedTensor>& inputs, const TrialCost& cost) {
  const Config config;
  const Model model = text_model(kLayer);
  return try_out(model, model, Planner(config.quantization, config.preset), config, inputs, cost);
}

std::vector<NamedTensor> two_values() { return {{"x", float_tensor({1, 2}, {1, -1})}}; }

}  // namespace

TEST_CASE("trial: both models are run", "[pipeline]") {
  const auto found = trial(two_values(), {.float_us = 10, .sample_count = 1});
  REQUIRE(found);
  CHECK(found->float_us > 0);
  CHECK(found->quantized_us > 0);
  CHECK(found->float_runs > 0);
  CHECK(found->quantized_runs > 0);
}

TEST_CASE("trial: there is none that would cost too much", "[pipeline]") {
  CHECK_FALSE(trial(two_values(), {.float_us = 1e6, .sample_count = 1}));
}

TEST_CASE("trial: there is none without inputs that the model runs on", "[pipeline]") {
  const TrialCost cost{.float_us = 10, .sample_count = 1};
  CHECK_FALSE(trial({}, cost));
  CHECK_FALSE(trial({{"x", float_tensor({1, 3}, {1, 2, 3})}}, cost));
  CHECK_FALSE(trial({{"z", float_tensor({1, 2}, {1, 2})}}, cost));
}
