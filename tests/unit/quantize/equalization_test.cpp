#include "quantize/equalization.h"

#include <fmt/format.h>
#include <random>
#include <string>

#include "catch.h"
#include "quantize/plan_builder.h"
#include "quantize/weight_noise.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

QuantizationConfig per_tensor() {
  QuantizationConfig config;
  config.per_channel = false;
  return config;
}

/// `count` numbers, of which those of one channel in four are 200 times as large where `is_coarse`.
std::string values(std::size_t count, std::size_t of_channel, bool is_coarse, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const float factor = is_coarse && i / of_channel % 4 == 0 ? 200.0F : 1.0F;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", factor * normal(random));
  }
  return out;
}

/// Two Convs, the weight of the first of which is coarse, with `between` from c to d.
Model convs(const std::string& between, const std::string& outputs = "float[1,6,M,N] y",
            const std::string& more = "") {
  return text_model("agraph (float[1,8,9,9] x) => (" + outputs + ") <float[8,8,3,3] v = {" +
                    values(576, 72, true, 1) + "}, float[8] b = {" + values(8, 1, true, 2) +
                    "}, float[6,8,1,1] w = {" + values(48, 8, false, 3) +
                    "}> { c = Conv (x, v, b) " + between + " y = Conv (d, w) " + more + " }");
}

std::vector<EqualizedWeight> equalized(Model& model,
                                       const QuantizationConfig& config = per_tensor()) {
  return equalize_layers(model, config, placement_for(Preset::Cpu));
}

std::vector<NoisyWeight> noisy(const Model& model) {
  const Placement& placement = placement_for(Preset::Cpu);
  return noisy_weights(model, draft_plan(model, per_tensor(), placement), placement);
}

/// Outputs are the same to the bit, and one scale is fine enough for all weights.
void check_equalized(Model model) {
  const Model before = model.clone();
  REQUIRE(noisy(before).size() == 1);
  const auto done = equalized(model);
  REQUIRE(done.size() == 1);
  CHECK(done[0].sqnr_before_db < kLeastSqnrDb);
  CHECK(done[0].sqnr_after_db > 20);
  CHECK(noisy(model).empty());
  for (unsigned seed = 1; seed <= 3; ++seed) CHECK(difference(before, model, seed) == 0);
}

void check_untouched(Model model, const QuantizationConfig& config = per_tensor()) {
  const std::string before = model.proto().SerializeAsString();
  CHECK(equalized(model, config).empty());
  CHECK(model.proto().SerializeAsString() == before);
}

}  // namespace

TEST_CASE("equalization: outputs stay to the bit, and one scale is fine enough", "[quantize]") {
  check_equalized(convs("d = Relu (c)"));
  check_equalized(
      convs("e = LeakyRelu <alpha = 0.3> (c) "
            "d = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (e)"));
  check_equalized(convs("e = AveragePool <kernel_shape = [2, 2]> (c) d = Identity (e)"));
}

TEST_CASE("equalization: depthwise layers and groups", "[quantize]") {
  check_equalized(
      text_model("agraph (float[1,8,9,9] x) => (float[1,8,M,N] y) <float[8,8,3,3] v = {" +
                 values(576, 72, true, 1) + "}, float[8,1,3,3] w = {" + values(72, 9, false, 3) +
                 "}> { c = Conv (x, v) d = Relu (c) y = Conv <group = 8> (d, w) }"));
  check_equalized(
      text_model("agraph (float[1,8,9,9] x) => (float[1,4,M,N] y) <float[8,4,5,5] v = {" +
                 values(800, 100, true, 1) + "}, float[4,4,5,5] w = {" + values(400, 25, false, 3) +
                 "}> { c = Conv <group = 2> (x, v) d = Relu (c) y = Conv <group = 2> (d, w) }"));
}

TEST_CASE("equalization: matrices, in whatever order they are stored", "[quantize]") {
  check_equalized(
      text_model("agraph (float[3,4] x) => (float[3,5] y) <float[8,4] v = {" +
                 values(32, 4, true, 1) + "}, float[8] b = {" + values(8, 1, false, 2) +
                 "}, float[8,5] w = {" + values(40, 8, false, 3) +
                 "}> { c = Gemm <transB = 1> (x, v, b) d = Relu (c) y = MatMul (d, w) }"));
  check_equalized(text_model("agraph (float[3,4] x) => (float[3,5] y) <float[4,8] v = {" +
                             values(32, 1, true, 1) + "}, float[5,8] w = {" +
                             values(40, 8, false, 3) +
                             "}> { c = MatMul (x, v) d = Relu (c) y = Gemm <transB = 1> (d, w) }"));
}

TEST_CASE("equalization: values that become others get other names", "[quantize]") {
  Model model = convs("d = Relu (c)");
  REQUIRE(equalized(model).size() == 1);
  const auto& graph = model.graph();
  CHECK(graph.node(0).output(0) == "c_equalized");
  CHECK(graph.node(1).output(0) == "d_equalized");
  CHECK(graph.node(2).input(0) == "d_equalized");
  CHECK(graph.node(2).output(0) == "y");
}

TEST_CASE("equalization: only what no one else can see", "[quantize]") {
  check_untouched(convs("d = Relu (c)", "float[1,6,M,N] y, float[1,8,P,Q] d"));
  check_untouched(convs("d = Relu (c)", "float[1,6,M,N] y, z", "z = Tanh (c)"));
  check_untouched(convs("d = Relu (c)", "float[1,6,M,N] y, z", "z = Conv (x, v)"));
  check_untouched(convs("d = Sigmoid (c)"));
  check_untouched(convs("e = Relu (c) d = Add (e, e)"));
}

TEST_CASE("equalization: not where the layer behind would get too coarse", "[quantize]") {
  // Its rows differ as the channels before it do: depthwise, their factors are what differs.
  check_untouched(
      text_model("agraph (float[1,8,9,9] x) => (float[1,8,M,N] y) <float[8,8,3,3] v = {" +
                 values(576, 72, true, 1) +
                 "}, float[8,1,1,1] w = {40, 1, 1, 1, 40, 1, 1, 1}> "
                 "{ c = Conv (x, v) d = Relu (c) y = Conv <group = 8> (d, w) }"));
}

TEST_CASE("equalization: as the config says", "[quantize]") {
  QuantizationConfig config = per_tensor();
  config.algorithms.emplace();
  const Placement& cpu = placement_for(Preset::Cpu);
  CHECK(equalizes_layers(per_tensor(), cpu));
  CHECK_FALSE(equalizes_layers(per_tensor(), placement_for(Preset::OnnxRuntime)));
  CHECK_FALSE(equalizes_layers(config, cpu));
  config.algorithms->push_back({.name = "cross_layer_equalization", .parameters = {}});
  CHECK(equalizes_layers(config, placement_for(Preset::OnnxRuntime)));
  config.per_channel = true;
  CHECK_FALSE(equalizes_layers(config, cpu));

  config = per_tensor();
  config.extra_options.tensor_quant_overrides["d"] = {{}};
  check_untouched(convs("d = Relu (c)"), config);
}

TEST_CASE("equalization: layers in branches, whose values have the names of others", "[quantize]") {
  const auto branch = [](const char* name, const char* v, const char* w, const char* out) {
    return fmt::format(
        "{} = b_{} () => (float[1,6,M,N] {}) {{ c = Conv (x, {}) d = Relu (c) {} = Conv (d, {}) }}",
        name, name, out, v, out, w);
  };
  Model model = text_model(
      "agraph (float[1,8,9,9] x, bool q) => (float[1,6,M,N] y) <float[8,8,3,3] v = {" +
      values(576, 72, true, 1) + "}, float[6,8,1,1] w = {" + values(48, 8, false, 3) +
      "}, float[8,8,3,3] s = {" + values(576, 72, false, 4) + "}, float[6,8,1,1] t = {" +
      values(48, 8, false, 5) + "}> { y = If (q) <" + branch("then_branch", "v", "w", "e") + ", " +
      branch("else_branch", "s", "t", "f") + "> }");
  const Model before = model.clone();
  REQUIRE(equalized(model).size() == 1);
  for (unsigned seed = 1; seed <= 6; ++seed) CHECK(difference(before, model, seed) == 0);
}
