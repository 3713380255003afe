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

TEST_CASE("supported: a method that does not exist yet is refused, those that do are named",
          "[config]") {
  CHECK(fault("calibration.method", "distribution") ==
        "calibration.method: 'distribution' is not available yet\n  hint: it is for float8 alone; "
        "available: minmax, percentile, entropy, mse, auto");
  CHECK(fault("calibration.method", "distribution", "compare").empty());
  for (const char* method : {"percentile", "entropy", "mse", "auto"})
    CHECK(fault("calibration.method", method).empty());
}

TEST_CASE("supported: what static cannot do yet is refused by its key", "[config]") {
  CHECK(fault("preset", "tensorrt") ==
        "preset: 'tensorrt' is not available yet\n  hint: available: cpu, onnxruntime");
  CHECK(fault("quantization.quant_format", "QOperator") ==
        "quantization.quant_format: 'QOperator' is not available yet\n  hint: available: QDQ");
  CHECK(fault("quantization.activation_type", "QUInt16") ==
        "quantization.activation_type: 'uint16' is not available yet\n  hint: available: int8, "
        "uint8");
  CHECK(fault("quantization.weight_type", "int4") ==
        "quantization.weight_type: 'int4' is not available yet\n  hint: available: int8, uint8");
  CHECK(fault("quantization.algorithms", "[\"gptq\"]") ==
        "quantization.algorithms: 'gptq' is not available yet\n  hint: available: bias_correction");
  CHECK(fault("preprocess.optimization", "basic") ==
        "preprocess.optimization: 'basic' is not available yet\n  hint: available: none");
  CHECK(fault("verify.max_latency_ratio", "0.9") ==
        "verify.max_latency_ratio: a gate on latency is not available yet");
  CHECK(fault("quantization.extra_options.TensorQuantOverrides",
              "{\"h3\": [{\"quant_type\": \"int8\"}]}") ==
        "quantization.extra_options.TensorQuantOverrides: overriding the quantization of a tensor "
        "('h3') is not available yet");
  CHECK(fault("quantization.extra_options.BlockSize", "32") ==
        "quantization.extra_options.BlockSize: a scale per block is not available yet");
}

TEST_CASE("supported: options without effect in format QDQ are accepted", "[config]") {
  CHECK(fault("quantization.extra_options.EnableSubgraph", "true").empty());
  CHECK(fault("quantization.extra_options.MatMulConstBOnly", "true").empty());
  CHECK(fault("quantization.extra_options.extra.Sigmoid.nnapi", "true").empty());
}

TEST_CASE("supported: settings of a switched-off preprocessing do not matter", "[config]") {
  Config config;
  config.preprocess.fusions = {"gelu"};
  CHECK_THROWS(check_supported(config, "static"));
  config.preprocess.enabled = false;
  CHECK_NOTHROW(check_supported(config, "static"));
}

}  // namespace
}  // namespace qtool
