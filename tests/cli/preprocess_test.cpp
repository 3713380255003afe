#include <filesystem>
#include <string>

#include "calibrate_run.h"
#include "config/json.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::fill;
using testing::run_qtool;
using testing::TempDir;

/// Member `check` of the report of one run.
std::string check_of(const TempDir& dir, const std::string& options) {
  const auto result = run_qtool("preprocess model.onnx out.onnx --json " + options, dir);
  REQUIRE(result.exit_code == 0);
  const JsonValue json = parse_json(result.out, "stdout");
  return to_compact_json(*json.find("check"));
}

TEST_CASE("preprocess: shapes of inputs are given as NAME:SIZES", "[cli]") {
  const TempDir dir;
  dir.write("model.onnx", testing::text_proto("g (float[N,C] x) => (float[N,C] y) { y = Relu (x) }")
                              .SerializeAsString());
  const std::string line = "preprocess model.onnx out.onnx --override-shapes ";
  CHECK(run_qtool(line + "x:2x3", dir).exit_code == 0);
  CHECK(run_qtool("inspect out.onnx", dir).out.find("  y     float32[2,3]") != std::string::npos);
  CHECK(run_qtool(line + "x", dir).err ==
        "qtool: error: --override-shapes: found 'x', expected NAME:1x3x224x224\n");
  CHECK(run_qtool(line + "x:2xa", dir)
            .err.starts_with("qtool: error: --override-shapes: preprocess.override_shapes.x: found "
                             "'[2,a]', expected a list"));
}

TEST_CASE("preprocess: sizes that a branch cannot take are the caller's mistake", "[cli]") {
  const TempDir dir;
  dir.write("model.onnx", testing::text_proto(R"(g (bool c, float[N,C] x) => (float[N,M] y)
                <float[3,2] v = {1, 2, 3, 4, 5, 6}, float[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}> {
              y = If (c) <then_branch = t () => (float[N,M] a) { a = MatMul (x, v) },
                          else_branch = e () => (float[N,M] b) { b = MatMul (x, w) }>
            })")
                              .SerializeAsString());
  const std::string line = "preprocess model.onnx out.onnx --override-shapes x:2x3";
  for (const std::string options : {"", " --check 0"}) {
    CAPTURE(options);
    const auto result = run_qtool(line + options, dir);
    CHECK(result.exit_code == 3);
    CHECK(result.err.find("error: model.onnx: does not load in ONNX Runtime with the given sizes: "
                          "Node") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(dir / "out.onnx"));
  }
}

TEST_CASE("preprocess: the result is compared with the model on made-up or given samples",
          "[cli]") {
  const TempDir dir;
  fill(dir);
  CHECK(check_of(dir, "").find(R"("samples":1,"made_up":true)") != std::string::npos);
  CHECK(check_of(dir, "--check 3").find(R"("samples":3,"made_up":true)") != std::string::npos);
  CHECK(check_of(dir, "--check 2 --data calib").find(R"("samples":2,"made_up":false)") !=
        std::string::npos);
  CHECK(check_of(dir, "--check 0").find(R"("samples":0)") != std::string::npos);
}

TEST_CASE("preprocess: a second run changes nothing, with ONNX Runtime's optimization too",
          "[cli]") {
  const TempDir dir;
  fill(dir);
  for (const std::string options : {"", " --optimization basic", " --optimization extended"}) {
    CAPTURE(options);
    REQUIRE(run_qtool("preprocess model.onnx a.onnx" + options, dir).exit_code == 0);
    REQUIRE(run_qtool("preprocess a.onnx b.onnx" + options, dir).exit_code == 0);
    CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
  }
}

TEST_CASE("preprocess: patterns that could be one operator are reported with what would do it",
          "[cli]") {
  const TempDir dir;
  dir.write("model.onnx",
            testing::text_proto("g (float[2,4] x) => (float[2,4] y) { s = Sigmoid (x) "
                                "y = Mul (x, s) }")
                .SerializeAsString());
  const auto text = run_qtool("preprocess model.onnx out.onnx", dir);
  CHECK(text.err.empty());
  CHECK(text.out.find("patterns left in single operators") != std::string::npos);
  CHECK(text.out.find("1  silu     preprocess.opset 24: Swish; preprocess.fusions: QuickGelu") !=
        std::string::npos);
  const auto json = run_qtool("preprocess model.onnx out.onnx --json", dir);
  CHECK(to_compact_json(*parse_json(json.out, "stdout").find("patterns_left")) ==
        R"([{"fusion":"silu","count":1,"reason":"preprocess.opset 24: Swish; )"
        R"(preprocess.fusions: QuickGelu"}])");
  CHECK(run_qtool("preprocess model.onnx out.onnx --fusions silu", dir).out.find("patterns left") ==
        std::string::npos);
}

TEST_CASE("preprocess: what a count of samples must be", "[cli]") {
  const TempDir dir;
  fill(dir);
  check_refusals(dir, {{"preprocess model.onnx out.onnx --check many", 2,
                        "--check: found 'many', expected a number of samples, 0 for none"}});
}

}  // namespace
}  // namespace qtool
