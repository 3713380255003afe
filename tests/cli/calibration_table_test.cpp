#include "base/sha256.h"
#include "calibrate_run.h"
#include "config/json.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::fill;
using testing::fill_with_tables;
using testing::kRecord;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

TEST_CASE("calibrate: a table serves static in place of the samples", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  const std::string line = "static -i model.onnx --set preset=cpu --calib-table all.qcal ";
  const std::string data_line =
      "static -i model.onnx --set preset=cpu --calib-data calib --max-samples 8 ";
  const auto make_both = [&](const std::string& options) {
    CHECK(run_qtool(data_line + "-o data.onnx " + options, dir).exit_code == 0);
    CHECK(run_qtool(line + "-o table.onnx " + options, dir).exit_code == 0);
  };
  for (const std::string options : {"--calibrate-method percentile", "--calibrate-method entropy",
                                    "--calibrate-method mse", "--calibrate-method auto"}) {
    INFO(options);
    make_both(options);
    CHECK(read_file(dir / "table.onnx") == read_file(dir / "data.onnx"));
  }
  // minmax on samples runs the graph without blocked layouts, which the table does not.
  for (const std::string options : {"", "--no-per-channel --activation-type int8",
                                    "--set preset=onnxruntime --set preprocess.enabled=true",
                                    "--op-types-to-quantize Conv --nodes-to-exclude conv1"}) {
    INFO(options);
    make_both(options);
    const auto compared =
        run_qtool("compare data.onnx table.onnx --data calib --min-sqnr-db 60", dir);
    CHECK(compared.exit_code == 0);
  }
  REQUIRE(run_qtool(line + "-o table.onnx", dir).exit_code == 0);
  const JsonValue manifest = parse_json(read_file(dir / "table.onnx.manifest.json"), "manifest");
  const JsonValue& calibration = *manifest.find("calibration");
  CHECK(to_compact_json(*calibration.find("table")) == "\"all.qcal\"");
  CHECK(to_compact_json(*calibration.find("sample_count")) == "8");
}

TEST_CASE("calibrate: static refuses a table that does not serve", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o conv.qcal --op-types-to-quantize Conv", dir).exit_code == 0);
  check_refusals(
      dir, {{"static model.onnx out.onnx --calib-table conv.qcal", 3,
             "conv.qcal: calibration table lacks tensors: no 'relu2.out', 'relu4.out', expected "
             "all 5 of this run\n"
             "  hint: run qtool calibrate with the same quantization.op_types_to_quantize"},
            {"static model.onnx out.onnx --calib-table conv.qcal --set preprocess.dims.batch=1", 3,
             "conv.qcal: calibration table made with other options: preprocess.dims {}, expected "
             "{\"batch\":1}"},
            {"static model.onnx out.onnx --calib-table conv.qcal --set verify.min_cosine=0.9", 2,
             "verify.data: is not set, expected a folder of samples for the gates"},
            {"static model.onnx conv.qcal --calib-table conv.qcal", 2,
             "model.output: 'conv.qcal' is the calibration table too, expected another file"}});
}

TEST_CASE("calibrate: static refuses a table of another model", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  REQUIRE(run_qtool("preprocess model.onnx other.onnx", dir).exit_code == 0);
  const std::string expected = sha256_of_file(dir / "other.onnx");
  check_refusals(dir, {{"static other.onnx out.onnx --calib-table all.qcal", 3,
                        "all.qcal: calibration table of another model: SHA-256 " +
                            sha256_of_file(dir / "model.onnx") + ", expected " + expected}});
}

TEST_CASE("calibrate: exports hold the ranges of the configured method", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  REQUIRE(run_qtool("calibrate --export json all.qcal -o t.json", dir).exit_code == 0);
  REQUIRE(run_qtool("calibrate --export tensorrt all.qcal -o t.txt", dir).exit_code == 0);
  REQUIRE(run_qtool("calibrate --export onnxruntime all.qcal -o cache.json", dir).exit_code == 0);
  const JsonValue json = parse_json(read_file(dir / "t.json"), "json");
  CHECK(to_compact_json(*json.find("method")) == "\"minmax\"");
  const JsonValue& first = json.find("tensors")->as<JsonValue::List>()->front();
  CHECK(to_compact_json(*first.find("name")) == "\"add.out\"");
  const JsonValue& range = *first.find("range");
  const std::string text = read_file(dir / "t.txt");
  CHECK(text.starts_with("add.out "));
  const float magnitude = std::stof(text.substr(8));
  const double low = *range.find("min")->as<double>(), high = *range.find("max")->as<double>();
  CHECK(magnitude == static_cast<float>(std::max(-low, high)));
  const JsonValue cache = parse_json(read_file(dir / "cache.json"), "cache");
  CHECK(to_compact_json(*cache.find("data")->find("add.out")->find("highest")->find("data")) ==
        "[" + to_compact_json(*range.find("max")) + "]");
}

TEST_CASE("calibrate: the cache of the config is written beside the table", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  const std::string options = "--set calibration.cache=cache.json --calibrate-method percentile";
  REQUIRE(run_qtool(kRecord + "-o t.qcal " + options, dir).exit_code == 0);
  REQUIRE(run_qtool("calibrate --export onnxruntime t.qcal -o exported.json --calibrate-method "
                    "percentile",
                    dir)
              .exit_code == 0);
  CHECK(read_file(dir / "cache.json") == read_file(dir / "exported.json"));
  check_refusals(dir, {{kRecord + "-o s.qcal --shard 0/2 " + options, 2,
                        "calibration.cache: holds ranges over all samples, expected none with "
                        "--shard\n  hint: qtool calibrate --export onnxruntime writes it from the "
                        "merged table"},
                       {kRecord + "-o cache.json " + options, 2,
                        "calibration.cache: 'cache.json' is model.output too, expected another "
                        "file"}});
}

TEST_CASE("inspect: a table is told by its content", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o t.any --shard 0/2", dir).exit_code == 0);
  const ProcessResult result = run_qtool("inspect t.any", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("4 of 8: a part, qtool calibrate --merge joins parts\n") !=
        std::string::npos);
  const JsonValue json = parse_json(run_qtool("inspect t.any --json", dir).out, "json");
  CHECK(json.find("tensors")->as<JsonValue::List>()->size() == 13);
  CHECK(json.find("method") == nullptr);
  check_refusals(dir, {{"inspect t.any --explain conv1", 2,
                        "--explain: 't.any' is a calibration table, expected a model"}});
}

}  // namespace
}  // namespace qtool
