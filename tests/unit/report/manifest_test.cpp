#include "report/manifest.h"

#include <string>
#include <vector>

#include "catch.h"
#include "config/json.h"
#include "static_example.h"

namespace qtool {
namespace {

TEST_CASE("manifest: names what the output was made of, and by what", "[report]") {
  const JsonValue json = parse_json(manifest_json(example_static_report()), "manifest");
  CHECK(to_compact_json(*json.find("manifest_version")) == "1");
  CHECK(to_compact_json(*json.find("created")) == "\"2023-11-14T22:13:20Z\"");
  CHECK(to_compact_json(*json.find("versions")) ==
        R"({"qtool":"0.1.0","onnx":"1.23.2","onnxruntime":"1.32.0"})");
  CHECK(to_compact_json(*json.find("input")) == R"({"path":"in/model.onnx","sha256":")" +
                                                    std::string(64, 'a') +
                                                    R"(","bytes":400000,"opset":12})");
  CHECK(to_compact_json(*json.find("output")) == R"({"path":"out/model.int8.onnx","sha256":")" +
                                                     std::string(64, 'b') +
                                                     R"(","bytes":100000,"opset":13})");
  CHECK(to_compact_json(*json.find("calibration")) ==
        R"({"data":"calib","sha256":")" + std::string(64, 'c') + R"(","sample_count":100})");
  CHECK(to_compact_json(*json.find("tensors")) == R"({"activations":1,"constants":1,"biases":0})");
  CHECK(to_compact_json(*json.find("load_check")) == "\"loads\"");
  CHECK(json.find("verification")->is_null());
}

TEST_CASE("manifest: holds the whole config with every default", "[report]") {
  const JsonValue json = parse_json(manifest_json(example_static_report()), "manifest");
  const JsonValue& config = *json.find("config");
  for (const char* section :
       {"model", "preset", "preprocess", "calibration", "quantization", "verify", "report"}) {
    CHECK(config.find(section) != nullptr);
  }
  CHECK(to_compact_json(*config.find("model")->find("input")) == "\"in/model.onnx\"");
}

TEST_CASE("manifest: only its time differs between two runs", "[report]") {
  StaticReport report = example_static_report();
  const std::string first = manifest_json(report);
  report.seconds = {{"load", 99}};
  CHECK(manifest_json(report) == first);
  report.provenance.created = 0;
  CHECK(manifest_json(report) != first);
}

}  // namespace
}  // namespace qtool
