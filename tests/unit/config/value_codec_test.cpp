#include "config/value_codec.h"

#include "catch.h"
#include "config/load.h"
#include "config_fault.h"

namespace qtool {
namespace {

using testing::config_fault;
using testing::section_fault;

TEST_CASE("value codec: choices ignore case and a leading Q", "[config]") {
  const Config config = read_config(R"({"calibration": {"method": "MinMax"},
    "quantization": {"activation_type": "QUInt8", "weight_type": "QINT8", "quant_format": "qdq"}})",
                                    "c.json");
  CHECK(config.quantization.activation_type == QuantType::UInt8);
  CHECK(config.quantization.weight_type == QuantType::Int8);
  CHECK(config.quantization.quant_format == QuantFormat::Qdq);
  const auto type = [](const std::string& word) {
    return load_config({{}, {{"--set", "quantization.weight_type", {word}}}})
        .quantization.weight_type;
  };
  CHECK(type("QFLOAT8E4M3FN") == QuantType::Float8E4M3FN);
  CHECK(type("UINT4") == QuantType::UInt4);
}

TEST_CASE("value codec: null unsets what may be unset, and nothing else", "[config]") {
  CHECK_FALSE(
      read_config(R"({"calibration": {"data": null, "stride": null}})", "c.json").calibration.data);
  CHECK(section_fault("quantization", R"({"extra_options": {"WeightSymmetric": null}})").empty());
  CHECK(section_fault("calibration", R"({"method": null})") ==
        "c.json:17: calibration.method: found null, expected one of "
        "minmax, percentile, entropy, mse, auto, distribution");
  CHECK(section_fault("calibration", "null") ==
        "c.json:17: calibration: found null, expected an object");
}

TEST_CASE("value codec: a value of another type is refused with what was found", "[config]") {
  CHECK(section_fault("quantization", R"({"per_channel": "very"})") ==
        "c.json:17: quantization.per_channel: found 'very', expected true or false");
  CHECK(section_fault("quantization", "{\"nodes_to_exclude\": [\"a\",\n 7]}") ==
        "c.json:18: quantization.nodes_to_exclude[1]: found 7, expected a string");
  CHECK(section_fault("quantization", R"({"nodes_to_exclude": "a"})") ==
        "c.json:17: quantization.nodes_to_exclude: found 'a', expected a list");
  CHECK(section_fault("preprocess", R"({"dims": [1]})") ==
        "c.json:17: preprocess.dims: found a list, expected an object");
  CHECK(section_fault("model", R"({"input": 5})") ==
        "c.json:17: model.input: found 5, expected a path");
  CHECK(config_fault("[1]") == "c.json:1: found a list, expected an object");
}

TEST_CASE("value codec: numbers out of range are refused with the range", "[config]") {
  CHECK(section_fault("calibration", R"({"num_bins": 2048.5})") ==
        "c.json:17: calibration.num_bins: found 2048.5, expected a whole number from 1 to 1048576");
  CHECK(section_fault("calibration", R"({"num_bins": 0})") ==
        "c.json:17: calibration.num_bins: found 0, expected a whole number from 1 to 1048576");
  CHECK(section_fault("calibration", R"({"num_bins": 99999999999999999999})") ==
        "c.json:17: calibration.num_bins: found 1e+20, expected a whole number from 1 to 1048576");
  CHECK(section_fault("calibration", R"({"percentile": 0})") ==
        "c.json:17: calibration.percentile: found 0, expected a number above 0 and at most 100");
  CHECK(section_fault("calibration", R"({"percentile": 101})") ==
        "c.json:17: calibration.percentile: found 101, expected a number above 0 and at most 100");
  CHECK(section_fault("quantization", R"({"bits": 3})") ==
        "c.json:17: quantization.bits: found 3, expected 2, 4, 8");
  CHECK(section_fault("float16", R"({"max_finite_val": 0})") ==
        "c.json:17: float16.max_finite_val: found 0, expected a number above 0");
  CHECK(section_fault("calibration", R"({"num_bins": 2048.0})").empty());
}

TEST_CASE("value codec: an unknown choice is refused with the nearest", "[config]") {
  CHECK(section_fault("calibration", R"({"method": "entropi"})") ==
        "c.json:17: calibration.method: unknown method 'entropi'\n"
        "  hint: did you mean 'entropy'? known: minmax, percentile, entropy, mse, auto, "
        "distribution");
  CHECK(
      section_fault("quantization", R"({"weight_type": "int7"})") ==
      "c.json:17: quantization.weight_type: unknown type 'int7'\n"
      "  hint: did you mean 'int8'? known: int8, uint8, int16, uint16, int4, uint4, float8e4m3fn");
  CHECK(
      section_fault("preprocess", R"({"fusions": ["gellu"]})") ==
      "c.json:17: preprocess.fusions[0]: unknown fusion 'gellu'\n"
      "  hint: did you mean 'gelu'? known: gelu, layernorm, lpnorm, space_to_depth, silu, rmsnorm, "
      "attention");
  CHECK(
      section_fault("preset", R"("cpo")").starts_with("c.json:17: preset: unknown preset 'cpo'\n"));
}

TEST_CASE("value codec: a broken expression for nodes is refused before any work", "[config]") {
  CHECK(section_fault("quantization", R"({"nodes_to_exclude": ["/mm[/"]})") ==
        "c.json:17: quantization.nodes_to_exclude[0]: pattern '/mm[/' is no regular expression: "
        "missing ]: [");
  CHECK(section_fault("quantization", R"({"nodes_to_quantize": ["/(mm/"]})") ==
        "c.json:17: quantization.nodes_to_quantize[0]: pattern '/(mm/' is no regular expression: "
        "missing ): (mm");
}

}  // namespace
}  // namespace qtool
