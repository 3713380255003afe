#include "quantize/pair_headroom.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

#include "catch.h"
#include "quantize/constants.h"
#include "quantize/planner.h"
#include "tensor_builder.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr std::size_t kRows = 32, kColumns = 24;

/// Values spread evenly over [low, high].
std::vector<float> random_values(std::size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> even(low, high);
  std::vector<float> out(count);
  for (float& value : out) value = even(random);
  return out;
}

std::string text_of(const std::vector<float>& values) {
  std::string out;
  for (const float value : values) out += fmt::format("{}{}", out.empty() ? "" : ", ", value);
  return out;
}

/// `nodes` make y of x [1,32] and w [32,24], whose values are positive: pairs of large ones
/// overflow 16 bits.
Model model_of(const std::string& nodes) {
  return text_model("agraph (float[1,32] x) => (float[1,24] y) <float[32,24] w = {" +
                    text_of(random_values(kRows * kColumns, 0, 1, 5)) + "}, float[32,32] u = {" +
                    text_of(random_values(kRows * kRows, 0, 1, 6)) +
                    "}, float l = {0}, float h = {1}, float[1,32] r, float[1,32] c> { " + nodes +
                    " }");
}

QuantPlan plan_of(const Model& model, const QuantizationConfig& config = {}) {
  const TensorRanges ranges{{"x", {0, 1}}, {"r", {0, 1}}, {"c", {0, 1}}, {"y", {0, 40}}};
  const std::vector<float> peaks(kRows, 1.0F);
  const std::vector<double> means(kRows, 0.5);
  return Planner(config, Preset::CpuAvx2)
      .plan(model, ranges, {{"x", means}, {"c", means}}, {{"x", peaks}, {"c", peaks}});
}

const TensorPlan& tensor_of(const QuantPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.tensors, name, &TensorPlan::name);
  INFO(to_text(plan));
  REQUIRE(found != plan.tensors.end());
  return *found;
}

std::ptrdiff_t widened(const QuantPlan& plan) {
  const std::vector<double>& all = tensor_of(plan, "w").widening;
  return std::ranges::count_if(all, [](double by) { return by > 1; });
}

/// Mean square of what quantizing x and w of y = x * w adds to y, over inputs spread evenly.
double error_of(const Model& model, const QuantPlan& plan) {
  const Tensor weight = model.tensor(model.graph().initializer(0));
  const QuantParams &x = tensor_of(plan, "x").params, &w = tensor_of(plan, "w").params;
  const auto bytes = quantize_constant(weight, w);
  double sum = 0;
  for (unsigned sample = 0; sample < 100; ++sample) {
    const std::vector<float> inputs = random_values(kRows, 0, 1, 100 + sample);
    for (std::size_t column = 0; column < kColumns; ++column) {
      double error = 0;
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::size_t at = row * kColumns + column;
        const double read = (quantize_value(inputs[row], {x.scales[0], x.zero_points[0]}, x.type) -
                             x.zero_points[0]) *
                            double{x.scales[0]};
        const double stored = static_cast<std::int8_t>(bytes[at]) * double{w.scales[column]};
        error += read * stored - double{inputs[row]} * double{weight.floats()[at]};
      }
      sum += error * error;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("headroom: a coarser activation that spares weights loses less in all", "[quantize]") {
  const Model model = model_of("y = MatMul (x, w)");
  const QuantPlan plan = plan_of(model);
  CHECK(tensor_of(plan, "x").headroom > 1);

  const TensorRanges ranges{{"x", {0, 1}}, {"y", {0, 40}}};
  const ChannelPeaks peaks{{"x", std::vector<float>(kRows, 1.0F)}};
  const QuantPlan without =
      build_plan(model, ranges, {}, {}, placement_for(Preset::CpuAvx2), {}, peaks);
  CHECK(tensor_of(without, "x").headroom == 1);
  CHECK(widened(plan) < widened(without));
  CHECK(error_of(model, plan) < 0.9 * error_of(model, without));
}

TEST_CASE("headroom: none where no pair overflows", "[quantize]") {
  std::vector<float> values;
  for (std::size_t i = 0; i < kRows * kColumns; ++i)
    values.push_back(i / kColumns % 2 == 0 ? 1.0F : -1.0F);
  const Model model = text_model("agraph (float[1,32] x) => (float[1,24] y) <float[32,24] w = {" +
                                 text_of(values) + "}> { y = MatMul (x, w) }");
  CHECK(tensor_of(plan_of(model), "x").headroom == 1);
  CHECK(widened(plan_of(model)) == 0);
}

TEST_CASE("headroom: none for scales that are symmetric, given, or clamp", "[quantize]") {
  QuantizationConfig config;
  config.extra_options.activation_symmetric = true;
  CHECK(tensor_of(plan_of(model_of("y = MatMul (x, w)"), config), "x").headroom == 1);

  const QuantPlan relu = plan_of(model_of("r = MatMul (x, u)  c = Relu (r)  y = MatMul (c, w)"));
  CHECK(tensor_of(relu, "c").headroom > 1);
  const QuantPlan clip =
      plan_of(model_of("r = MatMul (x, u)  c = Clip (r, l, h)  y = MatMul (c, w)"));
  INFO(to_text(clip));
  CHECK(tensor_of(clip, "c").headroom == 1);
}
