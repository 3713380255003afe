#include "report/calibrate.h"

#include "catch.h"
#include "report/manifest.h"

namespace qtool {
namespace {

CalibrateReport example() {
  CalibrateReport out;
  out.provenance = {"0.1.0", "1.23.2", "1.32.0", 1700000000};
  out.config.model.output = "t.qcal";
  out.config.calibration.data = "calib";
  out.form = "record";
  out.inputs = {{"m.onnx", std::string(64, 'a'), 4000}};
  out.output = {"t.qcal", std::string(64, 'b'), 2500};
  out.calibration_sha256 = std::string(64, 'c');
  out.total_samples = 10;
  out.sample_count = 10;
  out.new_sample_count = 10;
  out.tensor_count = 7;
  out.seconds = {{"load", 0.25}};
  return out;
}

}  // namespace

TEST_CASE("calibrate report: says what was read and what came of it", "[report]") {
  CalibrateReport report = example();
  CHECK(to_text(to_document(report)) ==
        "  input     m.onnx, 4.0 KB\n"
        "  output    t.qcal, 2.5 KB\n"
        "  samples   10 of 10\n"
        "  tensors   7\n"
        "  manifest  t.qcal.manifest.json\n");
  report.shard = Shard{1, 2};
  report.sample_count = 5;
  report.new_sample_count = 2;
  CHECK(to_text(to_document(report)).find("samples   5 of 10, shard 1/2, 2 of them new\n") !=
        std::string::npos);
}

TEST_CASE("calibrate report: the manifest names inputs, output and samples", "[report]") {
  const JsonValue json = parse_json(manifest_json(example()), "manifest");
  CHECK(to_compact_json(*json.find("command")) == "\"calibrate\"");
  CHECK(to_compact_json(*json.find("inputs")) ==
        R"([{"path":"m.onnx","sha256":")" + std::string(64, 'a') + R"(","bytes":4000}])");
  CHECK(to_compact_json(*json.find("calibration")) ==
        R"({"data":"calib","sha256":")" + std::string(64, 'c') +
            R"(","sample_count":10,"total_samples":10})");
  CHECK(json.find("seconds") == nullptr);
  CHECK(to_compact_json(*to_json(example()).find("seconds")) == R"({"load":0.25})");
}

TEST_CASE("calibrate report: merged tables stand in place of samples", "[report]") {
  CalibrateReport report = example();
  report.form = "merge";
  report.calibration_sha256.clear();
  const JsonValue json = to_json(report);
  CHECK(to_compact_json(*json.find("calibration")) == R"({"sample_count":10,"total_samples":10})");
}

}  // namespace qtool
