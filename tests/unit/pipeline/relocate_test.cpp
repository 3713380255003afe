#include "pipeline/relocate.h"

#include "catch.h"

namespace qtool {
namespace {

TEST_CASE("relocate: relative paths are named from the other folder", "[pipeline]") {
  Config config;
  config.model.input = "in/model.onnx";
  config.model.output = "out/model.int8.onnx";
  config.calibration.data = "out/../calib";
  const Config moved = relative_to(config, "out");
  CHECK(moved.model.input == "../in/model.onnx");
  CHECK(moved.model.output == "model.int8.onnx");
  CHECK(moved.calibration.data == "../calib");
  CHECK_FALSE(moved.verify.data);
}

TEST_CASE("relocate: an output without a folder stands in the current one", "[pipeline]") {
  Config config;
  config.model.input = "model.onnx";
  config.verify.labels = "data/labels.json";
  const Config moved = relative_to(config, "");
  CHECK(moved.model.input == "model.onnx");
  CHECK(moved.verify.labels == "data/labels.json");
}

TEST_CASE("relocate: a single path moves like those of a config", "[pipeline]") {
  using Path = std::filesystem::path;
  CHECK(relative_to(Path("a/t.qcal"), Path("a")) == "t.qcal");
  CHECK(relative_to(Path("t.qcal"), Path("a")) == "../t.qcal");
  CHECK(relative_to(Path("/x/t.qcal"), Path("a")) == "/x/t.qcal");
}

TEST_CASE("relocate: absolute paths stay", "[pipeline]") {
  Config config;
  config.report.html = "/reports/a.html";
  CHECK(relative_to(config, "out").report.html == "/reports/a.html");
}

}  // namespace
}  // namespace qtool
