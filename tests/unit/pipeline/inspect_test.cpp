#include "pipeline/inspect.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "catch.h"
#include "samples.h"
#include "temp_dir.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

class Fixture {
 public:
  explicit Fixture(const std::string& text) {
    config.model.input = dir.write("net.onnx", text_proto(text).SerializeAsString());
  }
  InspectReport run(std::optional<std::string> node = {}) {
    return run_inspect(config, node, {logger, {}});
  }
  std::string failure(const std::string& node) {
    return without(failure_of([&] { run(node); }), dir.path().string() + "/");
  }

  TempDir dir;
  Config config;
  std::ostringstream log;
  spdlog::logger logger{"test", std::make_shared<spdlog::sinks::ostream_sink_st>(log)};
};

const std::string kNet = R"(agraph (float[N,2] x) => (float[N,2] y)
    <float[2,2] w = {1, 2, 3, 4}> {
      [mm] h = MatMul (x, w)
      [exp] e = Exp (h)
      c = Constant <value = float[2,2] {1, 2, 3, 4}> ()
      [mm2] y = MatMul (e, c)
    })";

TEST_CASE("run_inspect: describes the file and what static would make of it", "[pipeline]") {
  Fixture fixture(kNet);
  const InspectReport report = fixture.run();
  CHECK(report.model.path == *fixture.config.model.input);
  CHECK(report.summary.node_count == 4);
  CHECK(report.outcome.quantized_nodes == 2);
  CHECK(report.obstacle.empty());
  REQUIRE(report.outcome.left.size() == 1);
  CHECK(report.outcome.left[0].node_name == "exp");
  CHECK(report.outcome.left[0].reason == "the operator has no 8-bit form");
}

TEST_CASE("run_inspect: follows the config", "[pipeline]") {
  Fixture fixture(kNet);
  fixture.config.quantization.nodes_to_exclude = {"mm"};
  const InspectReport report = fixture.run();
  CHECK(report.outcome.quantized_nodes == 1);
  CHECK(report.outcome.left[0].reason == "is in nodes_to_exclude");
}

TEST_CASE("run_inspect: a model with operators of other makers is described", "[pipeline]") {
  Fixture fixture(R"(<ir_version: 8, opset_import: ["" : 17, "my.ops" : 1]>
      agraph (float[N,2] x) => (float[N,2] y) { [own] y = my.ops.Magic (x) })");
  const InspectReport report = fixture.run();
  CHECK(report.summary.operators[0].domain == "my.ops");
  REQUIRE(report.outcome.left.size() == 1);
  CHECK(report.outcome.left[0].node_name == "own");
}

TEST_CASE("run_inspect: explains a node by its name or by its output", "[pipeline]") {
  Fixture fixture(kNet);
  CHECK(fixture.run("mm").explanation->decision.outcome == NodeDecision::Outcome::Quantized);
  CHECK(fixture.run("e").explanation->name == "exp");
}

TEST_CASE("run_inspect: a node that preprocessing takes away is explained as the file has it",
          "[pipeline]") {
  Fixture fixture(kNet);
  const auto node = fixture.run("c").explanation;
  REQUIRE(node);
  CHECK(node->op_type == "Constant");
  CHECK(node->decision.reason == "is not in the model after preprocessing");
}

TEST_CASE("run_inspect: a node that is not there is named, with the nearest that is",
          "[pipeline]") {
  Fixture fixture(kNet);
  CHECK(fixture.failure("mm3") ==
        "exit 2: net.onnx: has no node 'mm3', expected the name of a node or of a node's output | "
        "did you mean 'mm'?");
}

}  // namespace
}  // namespace qtool
