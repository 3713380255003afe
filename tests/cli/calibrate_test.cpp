#include "calibrate_run.h"
#include "config/json.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::fill;
using testing::fill_with_tables;
using testing::kRecord;
using testing::ProcessResult;
using testing::Refusal;
using testing::run_qtool;
using testing::TempDir;

TEST_CASE("calibrate: shards in any order join to the table of one run", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  CHECK(run_qtool("calibrate --merge b.qcal a.qcal -o ba.qcal", dir).exit_code == 0);
  CHECK(run_qtool("calibrate --merge a.qcal b.qcal -o ab.qcal", dir).exit_code == 0);
  const std::string whole = read_file(dir / "all.qcal");
  CHECK(read_file(dir / "ba.qcal") == whole);
  CHECK(read_file(dir / "ab.qcal") == whole);
}

TEST_CASE("calibrate: a shard without samples joins too", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  CHECK(run_qtool(kRecord + "-o none.qcal --shard 9/10", dir).exit_code == 0);
  CHECK(run_qtool("calibrate --merge none.qcal a.qcal b.qcal -o m.qcal", dir).exit_code == 0);
  CHECK(read_file(dir / "m.qcal") == read_file(dir / "all.qcal"));
}

TEST_CASE("calibrate: the result does not depend on threads", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  CHECK(run_qtool(kRecord + "-o one.qcal --threads 1", dir).exit_code == 0);
  CHECK(read_file(dir / "one.qcal") == read_file(dir / "all.qcal"));
}

TEST_CASE("calibrate: parts that are missing are a warning, also for who uses the table", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  const ProcessResult merged = run_qtool("calibrate --merge a.qcal -o m.qcal", dir);
  CHECK(merged.exit_code == 0);
  CHECK(merged.err == "qtool: warning: m.qcal: 4 of 8 samples are missing\n");
  const std::string warning = "qtool: warning: m.qcal: holds 4 of 8 samples\n";
  CHECK(run_qtool("static model.onnx out.onnx --set preset=cpu --calib-table m.qcal", dir).err ==
        warning);
  CHECK(run_qtool("calibrate --export tensorrt m.qcal -o m.txt", dir).err == warning);
}

TEST_CASE("calibrate: tables that do not belong together are refused by what differs", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  const std::string other = "-o other.qcal --shard 1/2 ";
  const auto make = [&](const std::string& line) { REQUIRE(run_qtool(line, dir).exit_code == 0); };
  const auto refusal = [&] {
    const ProcessResult result = run_qtool("calibrate --merge a.qcal other.qcal -o m.qcal", dir);
    CHECK(result.exit_code == 3);
    CHECK_FALSE(std::filesystem::exists(dir / "m.qcal"));
    return result.err;
  };
  make(kRecord + other + "--set preprocess.simplify=false");
  CHECK(refusal() ==
        "qtool: error: other.qcal: calibration table made with other options: "
        "preprocess.simplify false, expected true\n");
  make("calibrate -i model.onnx --calib-data calib " + other);
  CHECK(refusal() ==
        "qtool: error: other.qcal: calibration table of another sample folder: 100 samples, "
        "expected 8\n");
  make(kRecord + other + "--op-types-to-quantize Conv");
  CHECK(refusal() ==
        "qtool: error: other.qcal: calibration table of other tensors: no 'add.out', expected all "
        "that a.qcal has\n");
  make(kRecord + "-o other.qcal --shard 0/4");
  CHECK(refusal() ==
        "qtool: error: other.qcal: has sample '000', number 0, expected it once: it is in a.qcal "
        "too\n");
}

TEST_CASE("calibrate: what does not fit is refused before any work", "[cli]") {
  const TempDir dir;
  fill(dir);
  const auto shard = [](const std::string& word) {
    return Refusal{kRecord + "-o t.qcal --shard=" + word, 2,
                   "--shard: found '" + word + "', expected I/N with I from 0 to N - 1"};
  };
  check_refusals(
      dir, {shard("3/2"),
            shard("0/0"),
            shard("-1/4"),
            shard("x/2"),
            shard("1/2/3"),
            shard("1"),
            shard("1/99999999999999999999"),
            {kRecord + "-o t.qcal --shard=", 2, "--shard: found an empty value"},
            {kRecord, 2, "calibrate: no output file, expected -o FILE or the key model.output"},
            {"calibrate --calib-data calib -o t.qcal", 2,
             "calibrate: no input model, expected -i FILE or the key model.input"},
            {"calibrate -i model.onnx -o t.qcal", 2,
             "calibrate: no calibration data, expected --calib-data DIR or the key "
             "calibration.data"},
            {kRecord + "-o out.onnx", 2,
             "model.output: found 'out.onnx', expected a file for the calibration table\n"
             "  hint: -o FILE.qcal names it on the command line"},
            {"calibrate --merge a.qcal -o a.qcal", 2,
             "model.output: 'a.qcal' is a table to merge too, expected another file"},
            {"calibrate --merge a.qcal --shard 0/2 -o t.qcal", 2,
             "--shard: does not go together with --merge"},
            {"calibrate --merge a.qcal --export json -o t.qcal", 2,
             "--export: does not go together with --merge"},
            {"calibrate --export json a.qcal --resume -o t.json", 2,
             "--resume: does not go together with --export"},
            {"calibrate --export xml a.qcal -o t.xml", 2,
             "--export: unknown format 'xml', expected json, onnxruntime or tensorrt"},
            {"calibrate --merge -o t.qcal", 2, "--merge: needs a value, found the option -o"}});
}

TEST_CASE("calibrate: a file that is no table is refused by its name", "[cli]") {
  const TempDir dir;
  fill(dir);
  dir.write("t.qcal", "min max");
  dir.write("t.json", "{}");
  dir.write("empty.qcal", "");
  const std::string none = "t.qcal: is no calibration table, expected one of qtool calibrate";
  check_refusals(dir,
                 {{"static model.onnx out.onnx --calib-table t.qcal", 3, none},
                  {"calibrate --export json t.qcal -o x.json", 3, none},
                  {"calibrate --merge t.qcal -o x.qcal", 3, none},
                  {kRecord + "-o t.qcal --resume", 3, none},
                  {"static model.onnx out.onnx --calib-table empty.qcal", 3,
                   "empty.qcal: is empty, expected a calibration table"},
                  {"static model.onnx out.onnx --calib-table absent.qcal", 5,
                   "absent.qcal: cannot be read: No such file or directory"},
                  {"static model.onnx out.onnx --calib-table t.json", 3,
                   "t.json: is no calibration table but JSON, expected one of qtool calibrate\n"
                   "  hint: ONNX Runtime's cache is read by the key calibration.cache"}});
}

TEST_CASE("calibrate: the providers of ONNX Runtime can be named, others are refused", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o t.qcal", dir).exit_code == 0);
  const auto cpu = run_qtool(kRecord + "-o cpu.qcal --providers CPUExecutionProvider", dir);
  CHECK(cpu.exit_code == 0);
  CHECK(read_file(dir / "cpu.qcal") == read_file(dir / "t.qcal"));
  const auto other = run_qtool(kRecord + "-o x.qcal --providers NoSuchExecutionProvider", dir);
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Catch::Matchers::StartsWith(
                            "qtool: error: --providers: 'NoSuchExecutionProvider' is not in this "
                            "ONNX Runtime, available: "));
  CHECK_FALSE(std::filesystem::exists(dir / "x.qcal"));
}

TEST_CASE("calibrate: a dry run says what it would do and writes nothing", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kRecord + "-o t.qcal --shard 1/3 --dry-run", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.out ==
        "  input    model.onnx, 180.5 KB\n"
        "  output   nothing written: a dry run\n"
        "  samples  3 of 8, shard 1/3\n"
        "  tensors  13\n");
  CHECK_FALSE(std::filesystem::exists(dir / "t.qcal"));
}

TEST_CASE("calibrate: beside the table lies its manifest", "[cli]") {
  const TempDir dir;
  fill(dir);
  std::filesystem::create_directory(dir / "sub");
  REQUIRE(run_qtool(kRecord + "-o sub/t.qcal --shard 0/2", dir).exit_code == 0);
  const JsonValue manifest = parse_json(read_file(dir / "sub/t.qcal.manifest.json"), "manifest");
  CHECK(to_compact_json(*manifest.find("form")) == "\"record\"");
  CHECK(to_compact_json(*manifest.find("calibration")) ==
        R"({"data":"../calib","shard":"0/2","sample_count":4,"total_samples":8})");
  const JsonValue& input = manifest.find("inputs")->as<JsonValue::List>()->front();
  CHECK(to_compact_json(*input.find("path")) == "\"../model.onnx\"");
  CHECK(to_compact_json(*manifest.find("output")->find("path")) == "\"t.qcal\"");
}

}  // namespace
}  // namespace qtool
