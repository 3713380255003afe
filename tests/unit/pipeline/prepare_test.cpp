#include "pipeline/prepare.h"

#include <algorithm>

#include "catch.h"
#include "error_text.h"
#include "graph_text.h"
#include "model/save.h"
#include "quantize/lower_qdq.h"
#include "quantize/plan_builder.h"
#include "run_model.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

// No later opset has a Dropout whose mask is of the type that this one gives.
constexpr const char* kCannotBeRaised = R"(
    <ir_version: 5, opset_import: ["" : 9]>
    agraph (float[1,4] x) => (float[1,2] y, float[1,4] mask)
      <float[4,2] w = {1, -1, 2, 0.5, 3, 4, 5, 6}> {
        d, mask = Dropout (x)
        y = MatMul (d, w)
      })";

TEST_CASE("prepare: a model whose opset cannot be raised gets ONNX Runtime's Q and DQ",
          "[pipeline]") {
  const Model float_model = text_model(kCannotBeRaised);
  const Config config;
  Model model = float_model.clone();
  const PreprocessReport report = prepare_for_quantization(model, config);
  CHECK(model.opset() == 9);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes.front().ends_with(
      ": QuantizeLinear and DequantizeLinear are those of ONNX Runtime (com.microsoft)"));

  const Placement& placement = placement_for(config.preset);
  TensorRanges ranges;
  for (const std::string& name : measurements(model, config.quantization, placement).tensors)
    ranges[name] = {-4, 4};
  const QuantPlan plan = build_plan(model, ranges, {}, config.quantization, placement);
  CHECK(plan.qdq_domain == "com.microsoft");
  const Model quantized = lower_to_qdq(std::move(model), plan);
  CHECK(std::ranges::any_of(quantized.graph().node(), [](const onnx::NodeProto& node) {
    return node.op_type() == "DequantizeLinear" && node.domain() == "com.microsoft";
  }));
  CHECK(difference(float_model, quantized) < 0.05);
}

TEST_CASE("prepare: float8 needs an opset that has it", "[pipeline]") {
  Config config;
  config.quantization.activation_type = QuantType::Float8E4M3FN;
  config.quantization.weight_type = QuantType::Float8E4M3FN;
  Model model = text_model(kCannotBeRaised);
  CHECK_FALSE(error_text([&] { prepare_for_quantization(model, config); }).empty());
}

std::string numbers(int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i) out += (i > 0 ? ", " : "") + std::to_string((i * 7 % 13) - 6);
  return out + "}";
}

/// A layer, a Gelu as its single nodes, and a layer.
std::string with_gelu(const std::string& first_layer, int opset = 17) {
  return "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
         "]> agraph (float[1,8,6,6] x) => (float[1,8,6,6] y) <float[8,8,1,1] w = " + numbers(64) +
         ", float[8,8,1,1] v = " + numbers(64) + ", float[6,6] k = " + numbers(36) +
         ", float root = {1.4142135}, float one = {1}, float half = {0.5}> { c = " + first_layer +
         " d = Div (c, root) e = Erf (d) a = Add (e, one) m = Mul (c, a) g = Mul (m, half) "
         "y = Conv (g, v) }";
}

constexpr const char* kConv = "Conv (x, w)";

Model prepared(const std::string& text, const Config& config = {}) {
  const Model before = text_model(text);
  Model model = before.clone();
  prepare_for_quantization(model, config);
  CHECK(difference(before, model) < 1e-5);
  CHECK_NOTHROW(check_model(model, "prepared"));
  return model;
}

std::string left(const std::string& text, const Config& config = {}) {
  return op_types(prepared(text, config).graph());
}

constexpr const char* kSpelled = "Conv Div Erf Add Mul Mul Conv";

TEST_CASE("prepare: a Gelu of a quantized value becomes one operator under its name",
          "[pipeline]") {
  const Model model = prepared(with_gelu(kConv));
  CHECK(op_types(model.graph()) == "Conv Gelu Conv");
  const auto& gelu = model.graph().node(1);
  CHECK(gelu.domain() == "com.microsoft");
  CHECK(gelu.output(0) == "g");
  CHECK(model.opset() == 17);
  CHECK(prepared(with_gelu(kConv, 20)).graph().node(1).domain().empty());
}

TEST_CASE("prepare: a Gelu of floats stays as it is, which ONNX Runtime fuses itself",
          "[pipeline]") {
  CHECK(left(with_gelu("MatMul (x, k)")) == "MatMul Div Erf Add Mul Mul Conv");
  CHECK(left(with_gelu("Softmax (x)")) == "Softmax Div Erf Add Mul Mul Conv");
}

TEST_CASE("prepare: a Gelu that the config has something to say of stays as it is", "[pipeline]") {
  Config config;
  config.quantization.extra_options.tensor_quant_overrides["e"] = {TensorOverride{}};
  CHECK(left(with_gelu(kConv), config) == kSpelled);
  config = {};
  config.quantization.extra_options.tensor_quant_overrides["c"] = {TensorOverride{}};
  CHECK(left(with_gelu(kConv), config) == "Conv Gelu Conv");
  config = {};
  config.quantization.op_types_to_quantize = {"Conv", "Mul"};
  CHECK(left(with_gelu(kConv), config) == kSpelled);
  config = {};
  config.preprocess.simplify = false;
  CHECK(left(with_gelu(kConv), config) == kSpelled);
  config = {};
  config.preset = Preset::TensorRt;
  CHECK(left(with_gelu(kConv), config) == kSpelled);
}

TEST_CASE("prepare: HardSwish is split where activations are integers, and made at run time",
          "[pipeline]") {
  const auto left_for = [](const std::string& swish, auto prepare) {
    Model model = text_model(
        "<ir_version: 8, opset_import: [\"\" : 14]> agraph (float[1,8,6,6] x) => (float[1,8,6,6] "
        "y) <float[8,8,1,1] w = " +
        numbers(64) + ", float three = {3}, float zero = {0}, float six = {6}> { c = Conv (x, w) " +
        swish + " y = Softmax (h) }");
    prepare(model, Config());
    return op_types(model.graph());
  };
  constexpr const char* kParts =
      "a = Add (c, three) k = Clip (a, zero, six) m = Mul (c, k) h = Div (m, six)";
  CHECK(left_for("h = HardSwish (c)", prepare_for_dynamic) == "Conv HardSwish Softmax");
  CHECK(left_for(kParts, prepare_for_dynamic) == "Conv HardSwish Softmax");
  CHECK(left_for("h = HardSwish (c)", prepare_for_quantization).find("HardSwish") ==
        std::string::npos);
}

}  // namespace
}  // namespace qtool
