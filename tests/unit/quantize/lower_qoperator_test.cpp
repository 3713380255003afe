#include "quantize/lower_qoperator.h"

#include <cstring>
#include <string>
#include <vector>

#include "catch.h"
#include "model/graph_view.h"
#include "quantize/onnxruntime/qoperator_plan.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

QuantizationConfig int8_config() {
  QuantizationConfig config;
  config.quant_format = QuantFormat::QOperator;
  config.activation_type = QuantType::Int8;
  config.per_channel = false;
  return config;
}

/// The model in integers, every range being [-1.27, 1.27].
Model quantized(const std::string& text, const QuantizationConfig& config = int8_config()) {
  Model model = text_model(text);
  TensorRanges ranges;
  for (const std::string& name : tensors_measured_by_qoperator(model, config))
    ranges[name] = {-1.27F, 1.27F};
  const QuantPlan plan = plan_qoperator_as_onnxruntime(model, &ranges, config);
  // As it is read back: scales of this preset stand in fields of their own.
  return Model(lower_to_qoperator(std::move(model), plan).proto());
}

std::vector<std::int32_t> int32s(const Model& model, const std::string& name) {
  const Tensor tensor = model.tensor(*GraphView(model.graph()).initializer(name));
  std::vector<std::int32_t> out(tensor.element_count());
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}

float scale(const Model& model, const std::string& name) {
  return to_float32(model.tensor(*GraphView(model.graph()).initializer(name))).front();
}

}  // namespace

TEST_CASE("QOperator: the bias of a Gemm counts beta times, in steps of alpha times the products",
          "[quantize]") {
  const Model model = quantized(
      "agraph (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1.27, 0, 0, 1.27}, float[2] b = "
      "{1, "
      "-0.5}> { y = Gemm <alpha: float = 2.0, beta: float = 0.5> (x, w, b) }");
  // 254 integers are spread over [-1.27, 1.27] for the weight, 255 for the activation.
  const float step = scale(model, "x_scale") * scale(model, "w_scale") * 2.0F;
  const auto bias = int32s(model, "b_quantized");
  REQUIRE(bias.size() == 2);
  CHECK(static_cast<float>(bias[0]) == Approx(0.5F / step).margin(0.5));
  CHECK(static_cast<float>(bias[1]) == Approx(-0.25F / step).margin(0.5));
}

TEST_CASE("QOperator: a bias keeps its shape, or is spread over the channels", "[quantize]") {
  QuantizationConfig config = int8_config();
  config.per_channel = true;
  const auto bias_shape = [&](const std::string& bias) {
    const Model model = quantized(
        "agraph (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, "
        "4}, " +
            bias + "> { y = Gemm (x, w, b) }",
        config);
    return model.tensor(*GraphView(model.graph()).initializer("b_quantized")).shape;
  };
  CHECK(bias_shape("float[2] b = {1, 2}") == std::vector<std::int64_t>{2});
  CHECK(bias_shape("float[1,2] b = {1, 2}") == std::vector<std::int64_t>{1, 2});
  CHECK(bias_shape("float b = {1}") == std::vector<std::int64_t>{2});
}

TEST_CASE("QOperator: weights too small for their bias get a larger scale, before the bias counts",
          "[quantize]") {
  const Model model = quantized(
      "agraph (float[1,1] x) => (float[1,1] y) <float[1,1] w = {1e-12}, float[1] b = {1}> { y = "
      "Gemm "
      "(x, w, b) }");
  const auto bias = int32s(model, "b_quantized");
  const double step = static_cast<double>(scale(model, "x_scale")) * scale(model, "w_scale");
  CHECK(step * bias[0] == Approx(1.0).epsilon(1e-4));
  CHECK(bias[0] < 2147483647);
}

TEST_CASE("QOperator: only models with operators of com.microsoft import them", "[quantize]") {
  const std::string conv =
      "agraph (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {1}> { y = Conv (x, w) "
      "}";
  CHECK(quantized(conv).opset("com.microsoft") == 0);
  const Model add = quantized("agraph (float[2] x) => (float[2] y) { y = Add (x, x) }");
  CHECK(add.opset("com.microsoft") == 1);
}

TEST_CASE("QOperator: types of values that are integers now go", "[quantize]") {
  const Model model = quantized(
      "agraph (float[2] x) => (float[2] y) <float[2] a, float[2] e> { a = Add (x, x) e = Exp (x) y "
      "= "
      "Add (a, e) }");
  std::vector<std::string> typed;
  for (const auto& info : model.graph().value_info()) typed.push_back(info.name());
  CHECK(typed == std::vector<std::string>{"e"});
}
