#include "quantize/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"
#include "quantize/lower_qdq.h"
#include "quantize/plan_builder.h"
#include "runtime/session.h"
#include "tensor_builder.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::float_tensor;
using qtool::testing::text_model;

namespace {

QuantParams int8(std::vector<float> scales) {
  QuantParams out{.type = ElementType::Int8, .scales = scales, .zero_points = {}, .axis = {}};
  out.zero_points.assign(scales.size(), 0);
  return out;
}

onnx::NodeProto node_of(const char* body) {
  return text_model(std::string("g (float[N,M] x, float[A,B] w) => (float[P,Q] y) { ") + body +
                    " }")
      .graph()
      .node(0);
}

std::vector<double> channel_means(const Tensor& tensor) {
  std::vector<double> out(4);
  const auto values = tensor.floats();
  for (std::size_t i = 0; i < values.size(); ++i)
    out[i / 64] += static_cast<double>(values[i]) / 64;
  return out;
}

/// 4 channels, each of its own mean, some noise on top.
Tensor input(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (int i = 0; i < 4 * 64; ++i) {
    const auto noise = static_cast<float>(random() % 1000) / 5000.0F;
    values.push_back(static_cast<float>(i / 64) * 0.3F + noise);
  }
  return float_tensor({1, 4, 8, 8}, values);
}

/// The mean of each of the four channels of the output.
std::vector<double> means_of(const Model& model, const Tensor& x) {
  const Session session(model, SessionConfig{});
  const std::vector<NamedTensor> inputs{{"x", x}};
  const auto outputs = session.run(inputs);
  return channel_means(outputs.front().tensor);
}

/// A depthwise Conv whose last channel has weights a hundred times those of the others.
constexpr const char* kDepthwise = R"(g (float[1,4,8,8] x) => (float[1,4,8,8] y)
  <float[4,1,1,1] w = {0.0123, 0.0171, 0.0087, 1.9}> { y = Conv <group = 4> (x, w) })";

}  // namespace

TEST_CASE("the mean error of an output channel is that of its weights times its inputs' means",
          "[quantize]") {
  // Steps of 0.5: the weights are off by 0.1, -0.2, 0.25 and 0.
  const Tensor weight = float_tensor({2, 2, 1}, {0.4F, 0.2F, 0.25F, 1.0F});
  const std::vector<double> means{10, 100};
  const auto conv = mean_output_error(node_of("y = Conv (x, w)"), weight, int8({0.5F}), means);
  REQUIRE(conv.size() == 2);
  CHECK(conv[0] == Approx(0.1 * 10 - 0.2 * 100));
  CHECK(conv[1] == Approx(-0.25 * 10));  // 0.25 / 0.5 rounds to even
}

TEST_CASE("groups, transposed weights and scales per channel have their own means and steps",
          "[quantize]") {
  const Tensor grouped = float_tensor({2, 1, 1}, {0.4F, 0.2F});
  const std::vector<double> means{10, 100};
  const auto conv =
      mean_output_error(node_of("y = Conv <group = 2> (x, w)"), grouped, int8({0.5F, 0.3F}), means);
  REQUIRE(conv.size() == 2);
  CHECK(conv[0] == Approx(0.1 * 10));
  CHECK(conv[1] == Approx(0.1 * 100));

  const Tensor rows = float_tensor({2, 3}, {0.4F, 0.5F, 0.5F, 0.2F, 0.5F, 1.0F});
  const auto gemm = mean_output_error(node_of("y = Gemm (x, w)"), rows, int8({0.5F}), means);
  REQUIRE(gemm.size() == 3);
  CHECK(gemm[0] == Approx(0.1 * 10 - 0.2 * 100));
  CHECK(gemm[1] == Approx(0).margin(1e-9));

  const Tensor columns = float_tensor({1, 2}, {0.4F, 0.2F});
  const auto transposed =
      mean_output_error(node_of("y = Gemm <transB = 1> (x, w)"), columns, int8({0.5F}), means);
  REQUIRE(transposed.size() == 1);
  CHECK(transposed[0] == Approx(0.1 * 10 - 0.2 * 100));
}

TEST_CASE("means that do not fit the weight correct nothing", "[quantize]") {
  const Tensor weight = float_tensor({2, 2, 1}, {0.4F, 0.2F, 0.25F, 1.0F});
  const std::vector<double> three{1, 2, 3};
  CHECK(mean_output_error(node_of("y = Conv (x, w)"), weight, int8({0.5F}), three).empty());
}

TEST_CASE("only weights with one scale are corrected by themselves, the list overrules",
          "[quantize]") {
  const Placement& cpu = placement_for(Preset::Cpu);
  QuantizationConfig config;
  config.per_channel = true;
  CHECK_FALSE(corrects_biases(config, cpu));
  config.per_channel = false;
  CHECK(corrects_biases(config, cpu));
  CHECK_FALSE(corrects_biases(config, placement_for(Preset::OnnxRuntime)));
  config.algorithms = std::vector<Algorithm>{};
  CHECK_FALSE(corrects_biases(config, cpu));
  config.algorithms = std::vector{Algorithm{.name = "bias_correction", .parameters = {}}};
  CHECK(corrects_biases(config, placement_for(Preset::OnnxRuntime)));
}

TEST_CASE("a corrected bias brings the output's mean back, also where there was no bias",
          "[quantize]") {
  const Model model = text_model(kDepthwise);
  QuantizationConfig config;
  config.per_channel = false;
  const Placement& cpu = placement_for(Preset::Cpu);
  // The output in float: its own steps are no matter here.
  config.extra_options.op_types_to_exclude_output_quantization = {"Conv"};
  const Tensor x = input(3);
  const TensorRanges ranges{{"x", {0, 1.2F}}};
  CHECK(measurements(model, config, cpu).averaged == std::vector<AveragedTensor>{{"x", 1}});
  const auto worst_error = [&](const ChannelMeans& known) {
    const QuantPlan plan = build_plan(model, ranges, known, config, cpu);
    const auto quantized = means_of(lower_to_qdq(text_model(kDepthwise), plan), x);
    const auto exact = means_of(model, x);
    double worst = 0;
    for (std::size_t c = 0; c < exact.size(); ++c)
      worst = std::max(worst, std::abs(quantized[c] - exact[c]));
    return worst;
  };
  CHECK(worst_error({{"x", channel_means(x)}}) < worst_error({}) / 5);
}
