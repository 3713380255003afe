#include "config/supported.h"

#include "catch.h"
#include "config/load.h"
#include "error_text.h"

namespace qtool {
namespace {

std::string fault(const std::string& key, const std::string& value,
                  std::string_view command = "static") {
  const Config config = load_config({{}, {{"--set", key, {value}}}});
  return testing::error_text([&] { check_supported(config, command); });
}

TEST_CASE("supported: the defaults and the preset onnxruntime can be done", "[config]") {
  for (const std::string_view command :
       {"static", "calibrate", "preprocess", "compare", "inspect"}) {
    CHECK_NOTHROW(check_supported(Config(), command));
    CHECK(fault("preset", "onnxruntime", command).empty());
  }
}

TEST_CASE("supported: every method is available", "[config]") {
  for (const char* method : {"percentile", "entropy", "mse", "auto", "distribution"})
    CHECK(fault("calibration.method", method).empty());
}

std::string type_fault(std::initializer_list<Setting> settings) {
  const Config config = load_config({{}, settings});
  return testing::error_text([&] { check_supported(config, "static"); });
}

TEST_CASE("supported: types that do not go together are refused before any work", "[config]") {
  const Setting activations{"--set", "quantization.activation_type", {"float8e4m3fn"}};
  const Setting weights{"--set", "quantization.weight_type", {"float8e4m3fn"}};
  const Setting distribution{"--set", "calibration.method", {"distribution"}};
  CHECK(type_fault({activations}) ==
        "quantization.weight_type: found 'int8' with activations 'float8e4m3fn', expected "
        "float8e4m3fn for both");
  CHECK(type_fault({activations, weights}) ==
        "calibration.method: found 'minmax', expected 'distribution': float8 is scaled by the "
        "spread of values");
  CHECK(type_fault({activations, weights, distribution}).empty());
  CHECK(
      type_fault(
          {activations, weights, distribution, {"--set", "quantization.reduce_range", {"true"}}}) ==
      "quantization.reduce_range: float8 has no reduced range");
  const Setting int8{"--set", "quantization.activation_type", {"int8"}};
  const Setting uint8{"--set", "quantization.weight_type", {"uint8"}};
  CHECK(type_fault({int8, uint8}).empty());
  CHECK(type_fault({int8, uint8, {"--set", "preset", {"onnxruntime"}}}) ==
        "quantization.weight_type: found 'uint8' with activations 'int8', expected 'int8'");
}

TEST_CASE("supported: targets that know pairs alone take no other format", "[config]") {
  const Setting integers{"--set", "quantization.quant_format", {"qoperator"}};
  CHECK(type_fault({integers, {"--set", "preset", {"tensorrt"}}}) ==
        "quantization.quant_format: found 'QOperator' with preset 'tensorrt', expected 'QDQ'");
  CHECK(type_fault({integers, {"--set", "preset", {"cpu-avx2"}}}).empty());
}

TEST_CASE("supported: dynamic is for ONNX Runtime's CPU provider", "[config]") {
  CHECK(fault("preset", "qnn", "dynamic") ==
        "preset: found 'qnn', which has no operators that quantize at run time, expected cpu, "
        "cpu-avx2, arm64 or onnxruntime for dynamic");
  CHECK(fault("preset", "arm64", "dynamic").empty());
}

TEST_CASE("supported: what static cannot do yet is refused by its key", "[config]") {
  CHECK(fault("quantization.algorithms", "[\"gptq\"]") ==
        "quantization.algorithms: 'gptq' is not available yet\n  hint: available: bias_correction, "
        "cross_layer_equalization");
  CHECK(fault("verify.max_latency_ratio", "0.9") ==
        "verify.max_latency_ratio: a gate on latency is not available yet");
}

TEST_CASE("supported: options without effect in format QDQ are accepted", "[config]") {
  CHECK(fault("quantization.extra_options.EnableSubgraph", "true").empty());
  CHECK(fault("quantization.extra_options.MatMulConstBOnly", "true").empty());
  CHECK(fault("quantization.extra_options.extra.Sigmoid.nnapi", "true").empty());
}

}  // namespace
}  // namespace qtool
