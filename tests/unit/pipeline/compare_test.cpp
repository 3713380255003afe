#include "pipeline/compare.h"

#include <fstream>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "temp_dir.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

/// A folder with two models and three samples, and what a run on it logs.
class Fixture {
 public:
  Fixture() {
    write_model("a.onnx", "agraph (float[N,2] x) => (float[N,2] y) { y = Identity (x) }");
    write_model("b.onnx",
                "agraph (float[N,2] x) => (float[N,2] y) <float s = {0.5}> { y = Add (x, s) }");
    for (const char* name : {"s_1", "s_2", "s_10"}) {
      dir.write(std::string("data/") + name + ".npy", npy<float>({1, 2}, {1, 2}));
    }
    config.model.input = dir / "a.onnx";
    config.model.output = dir / "b.onnx";
    config.verify.data = dir / "data";
    config.threads = 1;
    logger.set_pattern("%l: %v");
  }

  void write_model(const std::string& name, const std::string& text) {
    dir.write(name, text_proto(text).SerializeAsString());
  }
  CompareReport run() { return run_compare(config, {logger, {}}); }
  std::string failure() {
    return without(failure_of([&] { run(); }), dir.path().string() + "/");
  }
  std::string logged() const { return without(log.str(), dir.path().string() + "/"); }

  TempDir dir;
  Config config;
  std::ostringstream log;
  spdlog::logger logger{"test", std::make_shared<spdlog::sinks::ostream_sink_st>(log)};
};

TEST_CASE("run_compare: names files, sizes and samples", "[pipeline]") {
  Fixture fixture;
  const CompareReport report = fixture.run();
  CHECK(report.reference.path == fixture.dir / "a.onnx");
  CHECK(report.reference.bytes == std::filesystem::file_size(fixture.dir / "a.onnx"));
  CHECK(report.size_ratio ==
        static_cast<double>(report.other.bytes) / static_cast<double>(report.reference.bytes));
  CHECK(report.comparison.sample_count == 3);
  CHECK(report.comparison.outputs[0].max_abs_error == 0.5);
  CHECK_FALSE(report.labels);
  CHECK(report.gates.empty());
  CHECK(fixture.logged().empty());
}

TEST_CASE("run_compare: labels inside the sample folder are found", "[pipeline]") {
  Fixture fixture;
  fixture.dir.write("data/labels.json", "[1, 1, 0]");
  const CompareReport report = fixture.run();
  CHECK(report.labels == fixture.dir / "data/labels.json");
  CHECK(report.comparison.top1.accuracy == 2.0 / 3);
}

TEST_CASE("run_compare: found labels that are no classes are left aside with a warning",
          "[pipeline]") {
  Fixture fixture;
  fixture.dir.write("data/labels.json", R"([[1, 2], [3], []])");
  const CompareReport report = fixture.run();
  CHECK_FALSE(report.labels);
  CHECK_FALSE(report.comparison.top1.accuracy);
  CHECK(report.comparison.top1.agreement == 1.0);
  REQUIRE(report.warnings.size() == 1);
  CHECK(fixture.logged() ==
        "warning: " + without(report.warnings[0], fixture.dir.path().string() + "/") + "\n");
  CHECK(fixture.logged() ==
        "warning: data/labels.json: entry 0: label is [1,2], expected the number of a class; "
        "compared without labels\n");
}

TEST_CASE("run_compare: labels that were asked for, or that a gate needs, must be classes",
          "[pipeline]") {
  Fixture asked, gated;
  asked.config.verify.labels = asked.dir.write("other.json", "[[1], 2, 3]");
  CHECK(asked.failure() ==
        "exit 3: other.json: entry 0: label is [1], expected the number of a class");
  gated.dir.write("data/labels.json", "[[1], 2, 3]");
  gated.config.verify.max_top1_drop = 0.5;
  CHECK(gated.failure() ==
        "exit 3: data/labels.json: entry 0: label is [1], expected the number of a class");
}

TEST_CASE("run_compare: labels that no output answers to are told", "[pipeline]") {
  Fixture fixture;
  fixture.dir.write("data/labels.json", "[1, 1, 0]");
  const std::string map = R"(agraph (float[N,2] x) => (float[N,1,2] y) <int64[1] axis = {1}> {
      y = Unsqueeze (x, axis) })";
  fixture.write_model("a.onnx", map);
  fixture.write_model("b.onnx", map);
  fixture.run();
  CHECK(fixture.logged() ==
        "warning: data/labels.json: is not used, the first output names no class\n");
}

TEST_CASE("run_compare: gates are judged on what was found", "[pipeline]") {
  Fixture fixture;
  fixture.config.verify.min_cosine = 0.5;
  fixture.config.verify.max_size_ratio = 0.1;
  const CompareReport report = fixture.run();
  REQUIRE(report.gates.size() == 2);
  CHECK(report.gates[0].met);
  CHECK_FALSE(report.gates[1].met);
  CHECK(report.gates[1].value == report.size_ratio);
}

TEST_CASE("run_compare: what could not be compared is told", "[pipeline]") {
  Fixture fixture;
  fixture.write_model("a.onnx", R"(agraph (float[N,2] x) => (float[N,2] y, float[N,2] extra) {
      y = Identity (x) extra = Neg (x) })");
  fixture.write_model("b.onnx", R"(agraph (float[N,2] x) => (float[K] y) <int64[1] s = {-1}> {
      y = Reshape (x, s) })");
  fixture.run();
  CHECK(fixture.logged() ==
        "warning: output 'extra' is not compared: b.onnx does not have it\n"
        "warning: b.onnx: output 'y': shapes or types differ from the reference in 3 of 3 samples, "
        "not compared there\n");
}

TEST_CASE("run_compare: missing parts are named by their keys", "[pipeline]") {
  Fixture fixture;
  fixture.config.verify.data.reset();
  CHECK(fixture.failure() == "exit 2: verify.data: is not set, expected a folder of samples");
  fixture.config.model.output.reset();
  CHECK(fixture.failure() == "exit 2: model.output: is not set, expected the model to compare");
}

}  // namespace
}  // namespace qtool
