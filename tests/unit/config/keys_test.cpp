#include "config/keys.h"

#include "catch.h"
#include "config/load.h"
#include "config_fault.h"

namespace qtool {
namespace {

using testing::error_text;
using testing::section_fault;

TEST_CASE("keys: an unknown key is named with its path, its line and the nearest", "[config]") {
  CHECK(section_fault("calibration", R"({"percentil": 99.9})") ==
        "c.json:17: calibration.percentil: unknown key\n"
        "  hint: did you mean 'percentile'? known: data, max_samples, batch, method, percentile, "
        "num_bins, num_quantized_bins, symmetric, moving_average, averaging_constant, stride, "
        "per_channel, table, cache, allow_nonfinite, max_clipped, min_range_used");
  CHECK(section_fault("quantisation", "{}") ==
        "c.json:17: quantisation: unknown key\n"
        "  hint: did you mean 'quantization'? known: model, preset, preprocess, calibration, "
        "quantization, float16, verify, report");
  CHECK(section_fault("quantization", R"({"extra_options": {"ActivationSymetric": true}})")
            .starts_with("c.json:17: quantization.extra_options.ActivationSymetric: unknown key\n"
                         "  hint: did you mean 'ActivationSymmetric'? known: "));
}

TEST_CASE("keys: an option that ONNX Runtime has elsewhere is answered with its key here",
          "[config]") {
  CHECK(section_fault("quantization", R"({"extra_options": {"CalibPercentile": 99}})") ==
        "c.json:17: quantization.extra_options.CalibPercentile: is a key of another name\n"
        "  hint: write calibration.percentile");
  CHECK(config_to_json(Config()).find("Calib") == std::string::npos);
  CHECK(config_schema().find("Calib") == std::string::npos);
}

TEST_CASE("keys: the schema knows every key that a written config has", "[config]") {
  const JsonValue schema = parse_json(config_schema(), "schema");
  const JsonValue written = parse_json(config_to_json(Config()), "written");
  CHECK_FALSE(*schema.find("additionalProperties")->as<bool>());
  for (const JsonMember& section : *written.as<JsonValue::Object>()) {
    const JsonValue* described = schema.find("properties")->find(section.name);
    REQUIRE(described != nullptr);
    if (section.value.as<JsonValue::Object>() == nullptr) continue;
    for (const JsonMember& key : *section.value.as<JsonValue::Object>()) {
      INFO(section.name << "." << key.name);
      const JsonValue* property = described->find("properties")->find(key.name);
      REQUIRE(property != nullptr);
      CHECK_FALSE(property->find("description")->as<std::string>()->empty());
      if (const JsonValue* given = property->find("default")) {
        CHECK(to_compact_json(*given) == to_compact_json(key.value));
      }
    }
  }
}

TEST_CASE("keys: a key tells its meaning and how words become its value", "[config]") {
  CHECK(key_info("calibration.data").doc == "Folder with the calibration samples.");
  CHECK(key_info("calibration.data").form == WordForm::Text);
  CHECK(key_info("quantization.per_channel").form == WordForm::Switch);
  CHECK(key_info("quantization.nodes_to_exclude").form == WordForm::List);
  CHECK(key_info("quantization.extra_options").form == WordForm::Pairs);
  CHECK(key_info("calibration.num_bins").form == WordForm::Json);
  CHECK(error_text([] { key_info("calibration.x"); }).starts_with("calibration.x: unknown key"));
}

}  // namespace
}  // namespace qtool
