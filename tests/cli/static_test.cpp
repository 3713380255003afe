#include <csignal>
#include <thread>

#include "catch.h"
#include "config/json.h"
#include "graph_text.h"
#include "model/model.h"
#include "npy_writer.h"
#include "qtool_run.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::Process;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;
using testing::words_of;

const std::filesystem::path kDigits = QTOOL_SOURCE_DIR "/calib_samples/digits";
const std::string kLine = "static model.onnx out.onnx --calib-data calib --max-samples 5 ";

/// A folder with the demo model and its samples, and nothing else.
void fill(const TempDir& dir) {
  std::filesystem::copy_file(kDigits / "model.onnx", dir / "model.onnx");
  std::filesystem::create_directory_symlink(kDigits / "calib", dir / "calib");
  std::filesystem::create_directory_symlink(kDigits / "eval", dir / "eval");
}

std::vector<std::string> names_in(const TempDir& dir) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    out.push_back(entry.path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

TEST_CASE("static: the result goes to stdout, and beside the model lies its manifest", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine, dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.find("  output       out.onnx, ") != std::string::npos);
  CHECK(names_in(dir) == std::vector<std::string>{"calib", "eval", "model.onnx", "out.onnx",
                                                  "out.onnx.manifest.json"});
  CHECK_NOTHROW(parse_json(read_file(dir / "out.onnx.manifest.json"), "manifest"));
}

TEST_CASE("static: HardSwish behind a Conv that stays in float is one operator", "[cli]") {
  const TempDir dir;
  dir.write("model.onnx", testing::text_proto(R"(
    <ir_version: 8, opset_import: ["" : 13]> agraph (float[1,3,4,4] x) => (float[1,2,4,4] y)
      <float[2,3,1,1] w = {-0.5, 0.25, 0.75, -0.25, 0.5, -0.5}, float[2,2,1,1] v = {1, 2, -1, 3},
       float three = {3}, float zero = {0}, float six = {6}> {
        c = Conv (x, w) a = Add (c, three) k = Clip (a, zero, six) m = Mul (c, k)
        h = Div (m, six) y = Conv (h, v) })")
                              .SerializeAsString());
  std::vector<float> values(48);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) - 6;
  dir.write("calib/x.npy", testing::npy<float>({1, 3, 4, 4}, values));
  const auto made_by = [&](const std::string& options) {
    const auto result = run_qtool("static model.onnx out.onnx --calib-data calib " + options, dir);
    CHECK(result.exit_code == 0);
    const std::string ops = testing::op_types(load_model(dir / "out.onnx").graph());
    return ops.find("HardSwish") != std::string::npos && ops.find("Clip") == std::string::npos;
  };
  CHECK(made_by(""));
  CHECK_FALSE(made_by("--preset onnxruntime"));
  CHECK_FALSE(made_by("--set preprocess.simplify=false"));
}

TEST_CASE("static: an option that changes nothing of the model is warned of", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result =
      run_qtool(kLine + "--extra MatMulConstBOnly=true --extra DedicatedQDQPair=false", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err ==
        "qtool: warning: quantization.extra_options.MatMulConstBOnly: has no effect: format QDQ\n");
}

TEST_CASE("static: a model that is quantized already is completed, or refused where asked",
          "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kLine, dir).exit_code == 0);
  const std::string again = "static out.onnx again.onnx --calib-data calib --max-samples 5 ";
  const ProcessResult completed = run_qtool(again, dir);
  CHECK(completed.exit_code == 0);
  CHECK(completed.err ==
        "qtool: warning: out.onnx: is quantized already, at least in parts: its pairs of "
        "QuantizeLinear and DequantizeLinear are kept as they are, and other nodes join them only "
        "where nodes_to_quantize or op_types_to_quantize asks for it\n");
  CHECK(completed.out.find("0 activations, 0 weights, 0 biases quantized") != std::string::npos);
  const ProcessResult refused = run_qtool(again + "--refuse-quantized", dir);
  CHECK(refused.exit_code == 3);
  CHECK(refused.err.starts_with("qtool: error: out.onnx: is quantized already: found node "));
  CHECK(
      refused.err.ends_with(", expected a float model\n"
                            "  hint: without refuse_quantized what is missing is added to it\n"));
}

TEST_CASE("static: --json makes stdout one document, --report writes it to a file", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result =
      run_qtool(kLine + "--json --report r.json --set report.html=r.html", dir);
  CHECK(result.exit_code == 0);
  CHECK_NOTHROW(parse_json(result.out, "stdout"));
  CHECK(read_file(dir / "r.json") == result.out);
  CHECK(read_file(dir / "r.html").starts_with("<!DOCTYPE html>"));
}

TEST_CASE("static: a prediction says for which sizes of inputs it is", "[cli]") {
  const TempDir dir;
  fill(dir);
  CHECK(run_qtool(kLine + "--preset cpu", dir).exit_code == 0);
  const JsonValue manifest = parse_json(read_file(dir / "out.onnx.manifest.json"), "manifest");
  const JsonValue* predicted = manifest.find("predicted");
  REQUIRE(predicted);
  REQUIRE(predicted->find("inputs"));
  CHECK(to_compact_json(*predicted->find("inputs")) == R"({"image":[1,1,8,8]})");
  CHECK(predicted->find("time_ratio"));
}

TEST_CASE("static: options and a config file that say the same give the same model", "[cli]") {
  const TempDir dir;
  fill(dir);
  dir.write("sub/c.json", R"({"model": {"input": "../model.onnx", "output": "../b.onnx"},
    "calibration": {"data": "../calib", "max_samples": 5}, "quantization": {"per_channel": false}})");
  CHECK(run_qtool(kLine + "--no-per-channel", dir).exit_code == 0);
  CHECK(run_qtool("static --config=sub/c.json", dir).exit_code == 0);
  CHECK(run_qtool("static -o c.onnx -c sub/c.json --set quantization.per_channel=true", dir)
            .exit_code == 0);
  const std::string from_options = read_file(dir / "out.onnx");
  CHECK(from_options == read_file(dir / "b.onnx"));
  CHECK(from_options != read_file(dir / "c.onnx"));
}

TEST_CASE("static: a dry run says what it would do and writes nothing", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine + "--dry-run --report r.json", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("nothing written") != std::string::npos);
  CHECK(names_in(dir) == std::vector<std::string>{"calib", "eval", "model.onnx"});
}

TEST_CASE("static: -v says more on stderr, a log file gets all of it with the time", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult verbose = run_qtool(kLine + "-v", dir);
  CHECK(verbose.err.starts_with("qtool: debug: "));
  const ProcessResult quiet = run_qtool(kLine + "-q --log-file run.log", dir);
  CHECK(quiet.err.empty());
  const std::string log = read_file(dir / "run.log");
  REQUIRE(log.size() > 40);
  CHECK(log.substr(4, 1) == "-");
  CHECK(log.substr(10, 1) == "T");
  CHECK(log.substr(19, 16) == "Z qtool: debug: ");
}

TEST_CASE("static: a log file gets the error that ends the run", "[cli]") {
  const TempDir dir;
  fill(dir);
  dir.write("bad.onnx", "no model");
  const ProcessResult result =
      run_qtool("static bad.onnx out.onnx --calib-data calib --log-file run.log", dir);
  CHECK(result.exit_code == 3);
  const std::string what = result.err.substr(0, result.err.find('\n'));
  CHECK(read_file(dir / "run.log").find(what) != std::string::npos);
}

TEST_CASE("static: a gate that is not met ends with 4, and the model is written", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result =
      run_qtool(kLine + "--set verify.data=eval --set verify.min_cosine=1", dir);
  CHECK(result.exit_code == 4);
  CHECK(result.err.starts_with("qtool: error: gate not met: min_cosine "));
  CHECK(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE(
    "static: a verification says where the regions of integers begin and end, and how far off",
    "[cli]") {
  const TempDir dir;
  fill(dir);
  const auto regions = [&](const std::string& options) {
    REQUIRE(run_qtool(kLine + "--preset cpu " + options, dir).exit_code == 0);
    const JsonValue manifest = parse_json(read_file(dir / "out.onnx.manifest.json"), "manifest");
    return std::get<JsonValue::List>(manifest.find("regions")->data);
  };
  CHECK(regions("").empty());
  const auto found = regions("--set verify.data=eval");
  REQUIRE_FALSE(found.empty());
  const auto& outputs = std::get<JsonValue::List>(found.back().find("outputs")->data);
  REQUIRE_FALSE(outputs.empty());
  const double sqnr_db = std::get<double>(outputs.back().find("sqnr_db")->data);
  CHECK(sqnr_db > 20);
  CHECK(sqnr_db < 80);
  CHECK(run_qtool(kLine + "--preset cpu --set verify.data=eval", dir)
            .out.find("\ninteger regions\n") != std::string::npos);
  CHECK(regions("--preset cpu --quant-format QOperator --set verify.data=eval").size() ==
        found.size());
}

TEST_CASE("static: progress is for terminals", "[cli]") {
  const TempDir dir;
  fill(dir);
  CHECK(run_qtool(kLine, dir).err.find('\r') == std::string::npos);
}

TEST_CASE("static: a full stdout is an error of its own after the model is written", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine, dir, "/dev/full");
  CHECK(result.exit_code == 5);
  CHECK(result.err ==
        "qtool: error: standard output: cannot be written: No space left on device\n");
  CHECK(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE("static: a closed stdout is found before any work", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine, dir, "");
  CHECK(result.exit_code == 5);
  CHECK(result.err == "qtool: error: standard output: cannot be written: Bad file descriptor\n");
  CHECK_FALSE(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE("static: an interrupt ends the run with 130 and leaves the old output", "[cli]") {
  const TempDir dir;
  fill(dir);
  dir.write("out.onnx", "old");
  std::filesystem::create_directory(dir / "many");
  for (int i = 0; i < 20000; ++i) {
    std::filesystem::create_symlink(kDigits / "calib/000.npy",
                                    dir / ("many/" + std::to_string(i) + ".npy"));
  }
  for (const int number : {SIGINT, SIGTERM}) {
    const Process process(QTOOL_BINARY,
                          words_of("static model.onnx out.onnx --calib-data many -v --threads 1"),
                          dir.path());
    // The run says so when it begins to calibrate, which then takes a while.
    while (process.is_running() && process.error_so_far().find("calibrate") == std::string::npos)
      std::this_thread::yield();
    process.signal(number);
    const ProcessResult result = process.wait();
    CHECK(result.exit_code == 130);
    CHECK(result.err.ends_with("qtool: error: interrupted\n"));
    CHECK(read_file(dir / "out.onnx") == "old");
    CHECK(names_in(dir) ==
          std::vector<std::string>{"calib", "eval", "many", "model.onnx", "out.onnx"});
  }
}

}  // namespace
}  // namespace qtool
