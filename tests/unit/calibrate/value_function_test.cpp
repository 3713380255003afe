#include "calibrate/value_function.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "calibrate/percentile.h"
#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::text_model;

/// Of the model `nodes` makes of x, where `tensors` are recorded.
std::map<std::string, ValueFunction> found(const std::string& nodes,
                                           const std::vector<std::string>& tensors) {
  const Model model = text_model(
      "agraph (float[1,2,4,4] x, float other) => (float[1,2,4,4] y) <float three = {3}, "
      "float zero = {0}, float[1,1,1,1] six = {6}, float[2,1,1] two = {1, 2}> {" +
      nodes + "}");
  return value_functions(model, tensors);
}

TensorStatistics recorded(const std::vector<float>& values) {
  TensorStatistics out;
  out.observe(values, 0, StatisticsKind::Distribution);
  return out;
}

std::vector<float> normal_values(float mean, float deviation) {
  std::mt19937 random(7);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> out(200000);
  for (float& value : out) value = distribution(random);
  return out;
}

}  // namespace

TEST_CASE("activations and numbers make functions of a recorded value", "[calibrate]") {
  const auto functions =
      found("a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) y = Div (m, six)",
            {"x", "c", "m", "y"});
  REQUIRE(functions.size() == 3);
  for (const auto& [name, function] : functions) CHECK(function.source == "x");
  for (const float x : {-4.0F, -1.5F, -0.0F, 0.7F, 2.9F, 5.0F}) {
    const float clipped = std::min(std::max(x + 3, 0.0F), 6.0F);
    CHECK(functions.at("c").apply(x) == clipped);
    CHECK(functions.at("m").apply(x) == x * clipped);
    CHECK(functions.at("y").apply(x) == x * clipped / 6);
  }
}

TEST_CASE("each operator of one value is the runtime's", "[calibrate]") {
  const struct {
    std::string node;
    float x, y;
  } cases[] = {{"Relu (x)", -1, 0},
               {"LeakyRelu <alpha = 0.5> (x)", -1, -0.5F},
               {"Sigmoid (x)", 0, 0.5F},
               {"HardSigmoid (x)", 1, 0.7F},
               {"HardSigmoid <alpha = 0.5, beta = 0.25> (x)", 1, 0.75F},
               {"HardSwish (x)", 1, 2.0F / 3},
               {"Clip (x, , six)", 7, 6},
               {"Sub (three, x)", 1, 2},
               {"Sub (x, three)", 1, -2},
               {"Div (x, six)", 3, 0.5F}};
  for (const auto& each : cases) {
    CAPTURE(each.node);
    const auto functions = found("y = " + each.node, {"x", "y"});
    REQUIRE(functions.contains("y"));
    CHECK(functions.at("y").apply(each.x) == Approx(each.y).epsilon(1e-6));
  }
}

TEST_CASE("what other operators make is recorded itself", "[calibrate]") {
  CHECK(found("y = Add (x, two)", {"x", "y"}).empty());
  CHECK(found("y = Div (three, x)", {"x", "y"}).empty());
  CHECK(found("a = Softmax (x) y = Mul (a, x)", {"x", "a", "y"}).empty());
  CHECK(found("y = Clip (x, zero, other)", {"x", "y"}).empty());
  CHECK(found("a = Relu (x) y = Relu (a)", {"a"}).empty());
  const auto behind = found("a = Softmax (x) y = Relu (a)", {"x", "a", "y"});
  REQUIRE(behind.size() == 1);
  CHECK(behind.at("y").source == "a");
}

TEST_CASE("float16 values are recorded themselves", "[calibrate]") {
  const Model model = text_model("agraph (float16[1,2] x) => (float16[1,2] y) { y = Relu (x) }");
  const std::vector<std::string> tensors{"x", "y"};
  CHECK(value_functions(model, tensors).empty());
}

TEST_CASE("long chains start anew", "[calibrate]") {
  std::string nodes = "v0 = Relu (x) ";
  std::vector<std::string> tensors{"x", "v0"};
  for (int i = 1; i < 40; ++i) {
    tensors.push_back("v" + std::to_string(i));
    nodes +=
        tensors.back() + " = Mul (v" + std::to_string(i - 1) + ", v" + std::to_string(i - 1) + ") ";
  }
  const auto functions = found(nodes + "y = Relu (v39)", tensors);
  CHECK(functions.at("v3").source == "x");
  CHECK(!functions.contains("v4"));  // 31 operators
  CHECK(functions.at("v5").source == "v4");
}

TEST_CASE("a function's distribution is near that of its values", "[calibrate]") {
  const auto functions = found(
      "a = Add (x, three) c = Clip (a, zero, six) m = Mul (x, c) g = Sigmoid (x) y = Mul (x, g)",
      {"x", "c", "m", "g", "y"});
  for (const auto& [mean, deviation] : {std::pair(0.0F, 1.0F), {1.0F, 30.0F}, {-2.0F, 0.01F}}) {
    const std::vector<float> x = normal_values(mean, deviation);
    const TensorStatistics source = recorded(x);
    for (const auto& [name, function] : functions) {
      CAPTURE(name, mean, deviation);
      std::vector<float> values(x.size());
      std::ranges::transform(x, values.begin(), function.apply);
      const TensorStatistics exact = recorded(values);
      const TensorStatistics derived = statistics_of(function, source);
      // Ranges of integers include zero.
      const float width = std::max(exact.max.value, 0.0F) - std::min(exact.min.value, 0.0F);
      CHECK(derived.value_count == exact.value_count);
      CHECK(derived.min.value == Approx(exact.min.value).margin(1e-3 * width));
      CHECK(derived.max.value == Approx(exact.max.value).margin(1e-3 * width));
      if (name == "c" || name == "g") {  // they rise all the way
        CHECK(derived.min.value == exact.min.value);
        CHECK(derived.max.value == exact.max.value);
      }
      std::uint64_t counted = 0;
      for (const DensityBin& bin : derived.density().bins) counted += bin.count;
      CHECK(counted == exact.value_count);
      CalibrationConfig config;
      for (const double percentile : {99.0, 99.9, 99.999}) {
        config.percentile = percentile;
        const Range wanted = *percentile_range(exact.density(), config);
        const Range got = *percentile_range(derived.density(), config);
        CHECK(got.min == Approx(wanted.min).margin(5e-3 * width));
        CHECK(got.max == Approx(wanted.max).margin(5e-3 * width));
      }
    }
  }
}

TEST_CASE("a function that overflows gives values that are not finite", "[calibrate]") {
  const auto functions = found("y = Mul (x, x)", {"x", "y"});
  const TensorStatistics squares =
      statistics_of(functions.at("y"), recorded({1e18F, 2e18F, 1e20F}));
  CHECK(squares.nonfinite_count == 1);
  CHECK(squares.value_count == 2);
  CHECK(squares.max.value == Approx(4e36).epsilon(0.02));
}

}  // namespace qtool
