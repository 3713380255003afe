#include "quantize/pair_sums.h"

#include <algorithm>
#include <random>

#include "catch.h"
#include "quantize/constants.h"
#include "quantize/plan_builder.h"
#include "tensor_builder.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

using Weights = std::vector<std::int8_t>;
using Bytes = std::vector<std::uint8_t>;

/// What VPMADDUBSW and VPMADDWD make of a row: pairs are added in 16 bits, and stop at their ends.
std::int64_t sum_in_pairs(const Weights& weights, const Bytes& inputs) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    std::int32_t pair = weights[i] * inputs[i];
    if (i + 1 < weights.size()) pair += weights[i + 1] * inputs[i + 1];
    sum += std::clamp(pair, -32768, 32767);
  }
  return sum;
}

std::int64_t exact_sum(const Weights& weights, const Bytes& inputs) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * inputs[i];
  return sum;
}

/// The inputs within `ranges` that make each pair largest, or smallest.
Bytes extreme_inputs(const Weights& weights, const std::vector<IntegerRange>& ranges,
                     bool largest) {
  Bytes out;
  for (std::size_t i = 0; i < weights.size(); ++i)
    out.push_back(
        static_cast<std::uint8_t>((weights[i] > 0) == largest ? ranges[i].max : ranges[i].min));
  return out;
}

bool can_saturate(const Weights& weights, const std::vector<IntegerRange>& inputs) {
  return pair_load(weights, inputs) > 1;
}

const std::vector<IntegerRange> kAny(2, IntegerRange{0, 255});

TensorRanges ranges_of(float x) { return {{"x", {-x, x}}, {"y", {-1, 1}}}; }

/// The plan for y = MatMul(x, w) under preset cpu-avx2.
QuantPlan plan_of(const Model& model, const ChannelPeaks& peaks,
                  const QuantizationConfig& config = {}) {
  return build_plan(model, ranges_of(1), {}, config, placement_for(Preset::CpuAvx2), {}, peaks);
}

const TensorPlan& weight_of(const QuantPlan& plan) {
  return *std::ranges::find(plan.tensors, TensorPlan::Role::Constant, &TensorPlan::role);
}

}  // namespace

TEST_CASE("pair sums: 128 times the largest byte fits into 16 bits, 129 times does not",
          "[quantize]") {
  CHECK_FALSE(can_saturate(Weights{127, 1}, kAny));
  CHECK(can_saturate(Weights{127, 2}, kAny));
  CHECK_FALSE(can_saturate(Weights{-127, -1}, kAny));
  CHECK(can_saturate(Weights{-127, -2}, kAny));
  CHECK_FALSE(can_saturate(Weights{127, -127}, kAny));
}

TEST_CASE("pair sums: weights 1 and 2 are no pair", "[quantize]") {
  const std::vector<IntegerRange> any(4, IntegerRange{0, 255});
  CHECK_FALSE(can_saturate(Weights{0, 127, 127, 0}, any));
  CHECK(can_saturate(Weights{127, 127, 0, 0}, any));
}

TEST_CASE("pair sums: smaller inputs leave room for larger weights", "[quantize]") {
  const std::vector<IntegerRange> small(2, IntegerRange{0, 129});
  CHECK_FALSE(can_saturate(Weights{127, 127}, small));
  CHECK(can_saturate(Weights{127, 127}, std::vector<IntegerRange>(2, IntegerRange{0, 130})));
}

TEST_CASE("pair sums: the bound is the emulation's on random weights and ranges", "[quantize]") {
  std::mt19937 random(7);
  int saturating = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t length = 1 + random() % 6;
    Weights weights;
    std::vector<IntegerRange> ranges;
    for (std::size_t i = 0; i < length; ++i) {
      weights.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127));
      const int a = static_cast<int>(random() % 256), b = static_cast<int>(random() % 256);
      ranges.push_back({std::min(a, b), std::max(a, b)});
    }
    bool differs = false;
    for (const bool largest : {true, false}) {
      for (std::size_t i = 0; i < length; i += 2) {
        const std::size_t count = std::min<std::size_t>(2, length - i);
        const Weights pair(weights.begin() + static_cast<std::ptrdiff_t>(i),
                           weights.begin() + static_cast<std::ptrdiff_t>(i + count));
        const std::vector<IntegerRange> of_pair(
            ranges.begin() + static_cast<std::ptrdiff_t>(i),
            ranges.begin() + static_cast<std::ptrdiff_t>(i + count));
        const Bytes inputs = extreme_inputs(pair, of_pair, largest);
        differs |= sum_in_pairs(pair, inputs) != exact_sum(pair, inputs);
      }
    }
    REQUIRE(can_saturate(weights, ranges) == differs);
    saturating += differs ? 1 : 0;
  }
  CHECK(saturating > 1000);
}

TEST_CASE(
    "pair sums: a planned weight never saturates, and only channels that could lose precision",
    "[quantize]") {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  constexpr std::size_t kRows = 24, kColumns = 40;
  std::string values;
  for (std::size_t i = 0; i < kRows * kColumns; ++i)
    values += (i == 0 ? "" : ", ") + std::to_string(normal(random));
  const Model model = text_model("agraph (float[1,24] x) => (float[1,40] y) <float[24,40] w = {" +
                                 values + "}> { y = MatMul (x, w) }");
  std::vector<float> peaks;
  for (std::size_t i = 0; i < kRows; ++i) peaks.push_back(static_cast<float>(random() % 100) / 100);
  const QuantPlan plan = plan_of(model, {{"x", peaks}});
  const TensorPlan& weight = weight_of(plan);
  REQUIRE(weight.widening.size() == kColumns);
  const auto untouched = std::ranges::count(weight.widening, 1.0);
  CHECK(untouched > 0);
  CHECK(untouched < static_cast<std::ptrdiff_t>(kColumns));

  const auto bytes = quantize_constant(model.tensor(model.graph().initializer(0)), weight.params);
  const QuantParams& input = plan.tensors[0].params;
  for (std::size_t column = 0; column < kColumns; ++column) {
    Weights weights;
    std::vector<IntegerRange> ranges;
    for (std::size_t row = 0; row < kRows; ++row) {
      weights.push_back(static_cast<std::int8_t>(bytes[row * kColumns + column]));
      const ScaleAndZero params{input.scales[0], input.zero_points[0]};
      ranges.push_back({quantize_value(-peaks[row], params, input.type),
                        quantize_value(peaks[row], params, input.type)});
    }
    for (const bool largest : {true, false}) {
      const Bytes inputs = extreme_inputs(weights, ranges, largest);
      CHECK(sum_in_pairs(weights, inputs) == exact_sum(weights, inputs));
    }
    const auto largest = std::ranges::max(weights, {}, [](int each) { return std::abs(each); });
    CHECK(std::abs(int{largest}) == Approx(127 / weight.widening[column]).margin(0.51));
    // A few steps less would not have done.
    const double load = pair_load(weights, ranges);
    CHECK(load <= 1);
    if (weight.widening[column] > 1) CHECK(load > 0.95);
  }
}

TEST_CASE("pair sums: without peaks any byte counts, and other presets keep 8 bits", "[quantize]") {
  const Model model = text_model(R"(agraph (float[1,2] x) => (float[1,2] y)
      <float[2,2] w = {127, 127, 2, 1}> { y = MatMul (x, w) })");
  CHECK(weight_of(plan_of(model, {})).widening == std::vector<double>{1 + 1.0 / 64, 1});
  CHECK(weight_of(plan_of(model, {{"x", {0.5F, 0.5F}}})).widening == std::vector<double>{1, 1});
  const QuantPlan cpu =
      build_plan(model, ranges_of(1), {}, QuantizationConfig(), placement_for(Preset::Cpu));
  CHECK(weight_of(cpu).widening.empty());
}

TEST_CASE("pair sums: one scale for all channels is widened if any can saturate", "[quantize]") {
  const Model model = text_model(R"(agraph (float[1,2] x) => (float[1,2] y)
      <float[2,2] w = {127, 1, 127, 1}> { y = MatMul (x, w) })");
  QuantizationConfig config;
  config.per_channel = false;
  const QuantPlan plan = plan_of(model, {}, config);
  CHECK(weight_of(plan).widening == std::vector<double>{254.0 * 255 / 32767});
  CHECK(weight_of(plan).params.scales[0] == Approx(254.0 * 255 / 32767));
}

TEST_CASE("pair sums: a Conv is summed by position, then by channel", "[quantize]") {
  const auto saturating = [](const char* weight) -> bool {
    const Model model = text_model(std::string(R"(agraph (float[1,2,2,1] x) => (float[1,1,1,1] y)
        <float[1,2,2,1] w = {)") + weight +
                                   "}> { y = Conv (x, w) }");
    const auto& graph = model.graph();
    const QuantParams params{
        .type = ElementType::Int8, .scales = {1}, .zero_points = {0}, .axis = 0};
    const QuantParams input{.type = ElementType::UInt8, .scales = {1}, .zero_points = {0}};
    return pair_loads(graph.node(0), model.tensor(graph.initializer(0)), params, {input, {}})[0] >
           1;
  };
  // Channel 0 at both positions, channel 1 at both positions.
  CHECK_FALSE(saturating("127, 127, 0, 0"));
  CHECK(saturating("127, 0, 127, 0"));
}

TEST_CASE("pair sums: a depthwise Conv adds in 32 bits", "[quantize]") {
  const Model model = text_model(R"(agraph (float[1,2,2,1] x) => (float[1,2,1,1] y)
      <float[2,1,2,1] w = {127, 127, 127, 127}> { y = Conv <group = 2> (x, w) })");
  const QuantParams params{
      .type = ElementType::Int8, .scales = {1, 1}, .zero_points = {0, 0}, .axis = 0};
  const QuantParams input{.type = ElementType::UInt8, .scales = {1}, .zero_points = {0}};
  CHECK(pair_loads(model.graph().node(0), model.tensor(model.graph().initializer(0)), params,
                   {input, {}})
            .empty());
}
