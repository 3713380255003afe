#include "quantize/ineffective_options.h"

#include <fmt/format.h>

#include "catch.h"
#include "config/load.h"
#include "preprocess/preprocess.h"
#include "quantize/planner.h"
#include "text_model.h"

namespace qtool {
namespace {

using Lines = std::vector<std::string>;

/// Conv, Relu and MaxPool, each of one reader; the weight has one scale where `per_channel` is off.
constexpr const char* kConv = R"(g (float[1,1,5,5] x) => (float[1,1,3,3] y)
  <float[1,1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, float[1] b = {1}> {
    c = Conv (x, w, b)
    r = Relu (c)
    y = MaxPool <kernel_shape = [1, 1]> (r) })";
constexpr const char* kMatMul =
    "g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul (x, w) }";
constexpr const char* kAdd = "g (float[2] x, float[2] z) => (float[2] y) { y = Add (x, z) }";

/// What is said of a config with these members of section `quantization`.
Lines lines_of(const char* text, const std::string& quantization, const char* preset = "cpu") {
  const Config config = read_config(
      fmt::format(R"({{"preset": "{}", "quantization": {{{}}}}})", preset, quantization), "c.json");
  Model model = testing::text_model(text);
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  const Planner planner(config.quantization, config.preset);
  TensorRanges ranges;
  for (const std::string& name : planner.measurements(model).tensors) ranges[name] = {-1, 1};
  const QuantPlan plan = planner.plan(model, ranges, {});
  return ineffective_options(model.graph(), plan, config.quantization, config.preset);
}

Lines extra(const char* text, const std::string& options, const std::string& others = "",
            const char* preset = "cpu") {
  return lines_of(text, others + R"("extra_options": {)" + options + "}", preset);
}

std::string line(const std::string& key, const std::string& reason) {
  return "quantization.extra_options." + key + ": has no effect: " + reason;
}

TEST_CASE("ineffective options: defaults are not looked at, whatever the preset", "[quantize]") {
  for (const char* preset : {"cpu", "onnxruntime"}) {
    CHECK(lines_of(kMatMul, "", preset).empty());
    CHECK(extra(kMatMul, R"("BlockSize": 0, "DedicatedQDQPair": false, "QuantizeBias": true,
                            "SmoothQuantAlpha": 0.5, "TensorQuantOverrides": {})",
                "", preset)
              .empty());
  }
}

TEST_CASE("ineffective options: with nothing quantized nothing is said", "[quantize]") {
  CHECK(extra(kAdd, R"("BlockSize": 32)").empty());
}

TEST_CASE("ineffective options: what has an effect is not listed", "[quantize]") {
  CHECK(lines_of(kConv,
                 R"("reduce_range": true, "op_types_to_quantize": ["Conv", "Relu", "MaxPool"])")
            .empty());
  CHECK(extra(kConv, R"("ActivationSymmetric": true, "MinimumRealRange": 1,
      "AddQDQPairToWeight": true, "QuantizeBias": false, "QDQKeepRemovableActivations": true,
      "UseQDQContribOps": true, "ForceQuantizeNoInputCheck": true,
      "OpTypesToExcludeOutputQuantization": ["MaxPool"],
      "TensorQuantOverrides": {"x": [{"symmetric": true}], "w": [{"symmetric": false}]})")
            .empty());
  CHECK(extra(kConv, R"("QDQDisableWeightAdjustForInt32Bias": true,
                        "ActivationRestrictedAsymmetric": true)")
            .empty());
  CHECK(extra(kMatMul, R"("BlockSize": 2)").empty());
  CHECK(extra(kMatMul, R"("QDQOpTypePerChannelSupportToAxis": {"MatMul": 0})").empty());
  CHECK(extra(kMatMul, R"("WeightSymmetric": false)", R"("per_channel": false, )").empty());
  CHECK(extra("g (float[2,2] x) => (float[2,2] y, float[2,2] z) <float[2,2] w = {1, 2, 3, 4}> "
              "{ y = MatMul (x, w) z = MatMul (x, w) }",
              R"("DedicatedQDQPair": true)")
            .empty());
}

TEST_CASE("ineffective options: what only the other format or preset knows", "[quantize]") {
  CHECK(extra(kMatMul, R"("MatMulConstBOnly": true, "extra.Sigmoid.nnapi": true)") ==
        Lines{line("MatMulConstBOnly", "format QDQ"), line("extra.Sigmoid.nnapi", "format QDQ")});
  const std::string qoperator = R"("quant_format": "QOperator", )";
  CHECK(extra(kMatMul, R"("MatMulConstBOnly": true, "DedicatedQDQPair": true,
                          "AddQDQPairToWeight": true, "UseQDQContribOps": true)",
              qoperator) == Lines{line("DedicatedQDQPair", "format QOperator"),
                                  line("AddQDQPairToWeight", "format QOperator"),
                                  line("UseQDQContribOps", "format QOperator"),
                                  line("MatMulConstBOnly", "only preset onnxruntime reads it")});
  CHECK(extra(kMatMul, R"("MatMulConstBOnly": true, "extra.Sigmoid.nnapi": true)", qoperator,
              "onnxruntime") == Lines{line("extra.Sigmoid.nnapi", "the model has no Sigmoid")});
  CHECK(extra(kConv, R"("QDQOpTypePerChannelSupportToAxis": {"Conv": 1})",
              R"("per_channel": true, )",
              "onnxruntime") == Lines{line("QDQOpTypePerChannelSupportToAxis",
                                           "preset onnxruntime does not read it for 'Conv'")});
  CHECK(
      extra("g (int64[1] i) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = Gather (w, i) }",
            R"("OpTypesToExcludeOutputQuantization": ["Gather"])", "",
            "onnxruntime") == Lines{line("OpTypesToExcludeOutputQuantization",
                                         "preset onnxruntime does not read it for 'Gather'")});
}

TEST_CASE("ineffective options: what the model has nothing of", "[quantize]") {
  CHECK(extra(kConv, R"("BlockSize": 4)") == Lines{line("BlockSize", "no weight has blocks")});
  CHECK(extra(kMatMul, R"("DedicatedQDQPair": true, "QuantizeBias": false,
      "QDQDisableWeightAdjustForInt32Bias": true, "QDQKeepRemovableActivations": true,
      "ForceQuantizeNoInputCheck": true, "EnableSubgraph": true)") ==
        Lines{line("DedicatedQDQPair", "no quantized value has several readers"),
              line("QuantizeBias", "no quantized operator has a bias"),
              line("QDQDisableWeightAdjustForInt32Bias", "no bias is quantized"),
              line("ForceQuantizeNoInputCheck", "no operator of the model depends on its input"),
              line("QDQKeepRemovableActivations", "no Relu or Clip is quantized"),
              line("EnableSubgraph", "the model has no subgraph")});
  CHECK(extra(kMatMul, R"("OpTypesToExcludeOutputQuantization": ["MatMul", "Conv", "Add"])") ==
        Lines{line("OpTypesToExcludeOutputQuantization", "no 'Conv', 'Add' is quantized")});
  CHECK(extra(kMatMul, R"("QDQOpTypePerChannelSupportToAxis": {"Conv": 0})") ==
        Lines{line("QDQOpTypePerChannelSupportToAxis", "the model has no 'Conv'")});
}

TEST_CASE("ineffective options: lists of types, and keys beside extra_options", "[quantize]") {
  CHECK(
      lines_of(kMatMul, R"("op_types_to_quantize": ["MatMul", "Conv"],
                             "op_types_to_exclude": ["Gemm"])") ==
      Lines{"quantization.op_types_to_quantize: has no effect: the model that is quantized has no "
            "'Conv'",
            "quantization.op_types_to_exclude: has no effect: the model that is quantized has no "
            "'Gemm'"});
  CHECK(lines_of(kAdd, R"("per_channel": true, "reduce_range": true)", "onnxruntime") ==
        Lines{"quantization.reduce_range: has no effect: no constant is quantized",
              "quantization.per_channel: has no effect: no quantized weight has channels"});
}

TEST_CASE("ineffective options: what another option or a type rules out", "[quantize]") {
  CHECK(extra(kMatMul, R"("ActivationRestrictedAsymmetric": true, "ActivationSymmetric": true)") ==
        Lines{line("ActivationRestrictedAsymmetric", "activations are symmetric")});
  CHECK(extra(kMatMul, R"("ActivationRestrictedAsymmetric": true)",
              R"("activation_type": "int8", )") ==
        Lines{line("ActivationRestrictedAsymmetric", "no activation is uint8")});
  CHECK(extra(kMatMul, R"("WeightSymmetric": false)") ==
        Lines{line("WeightSymmetric", "weights with a scale per channel are symmetric")});
  CHECK(extra(kMatMul, R"("SmoothQuantAlpha": 0.7, "SmoothQuantFolding": false)") ==
        Lines{line("SmoothQuantAlpha", "SmoothQuant is off"),
              line("SmoothQuantFolding", "SmoothQuant is off")});
}

TEST_CASE("ineffective options: overrides of what is not quantized", "[quantize]") {
  CHECK(extra(kConv, R"("TensorQuantOverrides": {"c": [{"symmetric": true}], "y": [{"rmin": -2}],
                                                 "x": []})",
              "",
              "onnxruntime") == Lines{line("TensorQuantOverrides", "'x' has an empty list"),
                                      line("TensorQuantOverrides", "'y' has the scale of 'r'")});
  CHECK(extra(kMatMul, R"("TensorQuantOverrides": {"y": [{"symmetric": true}]})") ==
        Lines{line("TensorQuantOverrides", "'y' is not quantized")});
  CHECK(extra(kConv, R"("TensorQuantOverrides": {"b": [{"symmetric": true}]})",
              R"("quant_format": "QOperator", )") ==
        Lines{line("TensorQuantOverrides", "'b' is a bias, and int32")});
}

}  // namespace
}  // namespace qtool
