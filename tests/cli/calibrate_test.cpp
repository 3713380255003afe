#include <csignal>
#include <thread>

#include "base/sha256.h"
#include "catch.h"
#include "config/json.h"
#include "qtool_run.h"

namespace qtool {
namespace {

using testing::Process;
using testing::ProcessResult;
using testing::Refusal;
using testing::run_qtool;
using testing::TempDir;
using testing::words_of;

const std::filesystem::path kDigits = QTOOL_SOURCE_DIR "/calib_samples/digits";
const std::string kRecord = "calibrate -i model.onnx --calib-data calib --max-samples 8 ";

/// A folder with the demo model and its samples, and nothing else.
void fill(const TempDir& dir) {
  std::filesystem::copy_file(kDigits / "model.onnx", dir / "model.onnx");
  std::filesystem::create_directory_symlink(kDigits / "calib", dir / "calib");
}

/// The same with a table of all eight samples and its halves.
void fill_with_tables(const TempDir& dir) {
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o all.qcal", dir).exit_code == 0);
  REQUIRE(run_qtool(kRecord + "-o a.qcal --shard 0/2", dir).exit_code == 0);
  REQUIRE(run_qtool(kRecord + "-o b.qcal --shard 1/2", dir).exit_code == 0);
}

/// Each line is refused with this answer, and leaves the folder as it was.
void check_refusals(const TempDir& dir, const std::vector<Refusal>& cases) {
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(dir.path()), {});
  };
  for (const Refusal& each : cases) {
    const auto before = count();
    INFO("qtool " << each.line);
    const ProcessResult result = run_qtool(each.line, dir);
    CHECK(result.err == "qtool: error: " + each.error + "\n");
    CHECK(result.exit_code == each.exit_code);
    CHECK(count() == before);
  }
}

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
  CHECK(run_qtool("static model.onnx out.onnx --calib-table m.qcal", dir).err == warning);
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

TEST_CASE("calibrate: a table serves static in place of the samples", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  const std::string line = "static -i model.onnx --calib-table all.qcal ";
  const std::string data_line = "static -i model.onnx --calib-data calib --max-samples 8 ";
  for (const std::string options :
       {"", "--no-per-channel --activation-type int8", "--calibrate-method percentile",
        "--calibrate-method entropy", "--calibrate-method mse", "--calibrate-method auto",
        "--set preset=onnxruntime --set preprocess.enabled=true",
        "--op-types-to-quantize Conv --nodes-to-exclude conv1"}) {
    INFO(options);
    CHECK(run_qtool(data_line + "-o data.onnx " + options, dir).exit_code == 0);
    CHECK(run_qtool(line + "-o table.onnx " + options, dir).exit_code == 0);
    CHECK(read_file(dir / "table.onnx") == read_file(dir / "data.onnx"));
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
             "all 6 of this run\n"
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

/// A folder whose samples take a while.
void fill_with_many(const TempDir& dir) {
  fill(dir);
  std::filesystem::create_directory(dir / "many");
  for (int i = 0; i < 20000; ++i) {
    std::filesystem::create_symlink(
        kDigits / "calib" / (std::string("00") + "0123456789"[i % 10] + ".npy"),
        dir / ("many/" + std::to_string(i) + ".npy"));
  }
}

const std::string kMany = "calibrate -i model.onnx --calib-data many ";

/// Runs `line` and sends it `number` once it records; gives its exit.
ProcessResult interrupt(const TempDir& dir, const std::string& line, int number) {
  const Process process(QTOOL_BINARY, words_of(line + " -v --threads 1"), dir.path());
  while (process.is_running() &&
         process.error_so_far().find(" of 20000 samples") == std::string::npos)
    std::this_thread::yield();
  process.signal(number);
  return process.wait();
}

TEST_CASE("calibrate: an interrupted run keeps what is done, and goes on to the same table",
          "[cli]") {
  const TempDir dir;
  fill_with_many(dir);
  REQUIRE(run_qtool(kMany + "-o whole.qcal", dir).exit_code == 0);
  int interrupted = 0;
  for (const int number : {SIGINT, SIGTERM, SIGINT}) {
    const ProcessResult result = interrupt(dir, kMany + "-o t.qcal --resume", number);
    if (result.exit_code != 130) continue;
    ++interrupted;
    CHECK(result.err.find("qtool: error: interrupted: t.qcal holds ") != std::string::npos);
    CHECK(
        result.err.ends_with(" of 20000 samples\n"
                             "  hint: the same command with --resume runs the rest\n"));
    CHECK(run_qtool("inspect t.qcal", dir).out.find(" of 20000: a part") != std::string::npos);
  }
  CHECK(interrupted > 0);
  REQUIRE(run_qtool(kMany + "-o t.qcal --resume", dir).exit_code == 0);
  CHECK(read_file(dir / "t.qcal") == read_file(dir / "whole.qcal"));
}

TEST_CASE("calibrate: a run that is killed leaves the table as it was", "[cli]") {
  const TempDir dir;
  fill_with_many(dir);
  REQUIRE(run_qtool(kRecord + "-o t.qcal", dir).exit_code == 0);
  const std::string before = read_file(dir / "t.qcal");
  CHECK(interrupt(dir, kMany + "-o t.qcal", SIGKILL).exit_code == -SIGKILL);
  CHECK(read_file(dir / "t.qcal") == before);
}

TEST_CASE("calibrate: --resume takes no table of anything else", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  std::filesystem::create_directory(dir / "changed");
  for (int i = 0; i < 8; ++i) {
    const std::string name = "00" + std::to_string(i) + ".npy";
    std::filesystem::copy_file(kDigits / "calib" / (i == 6 ? "050.npy" : name),
                               dir / ("changed/" + name));
  }
  check_refusals(dir,
                 {{"calibrate -i model.onnx --calib-data changed -o a.qcal --resume", 3,
                   "a.qcal: has sample '006' with other content, expected that of the folder\n"
                   "  hint: without --resume all samples are run"},
                  {kRecord + "-o a.qcal --resume --shard 1/2", 3,
                   "a.qcal: has sample '000' of another shard, expected the same --shard"},
                  {"calibrate -i model.onnx --calib-data calib -o a.qcal --resume", 3,
                   "a.qcal: calibration table of another sample folder: 8 samples, expected 100"},
                  {kRecord + "-o a.qcal --resume --op-types-to-quantize Conv", 3,
                   "a.qcal: has 13 tensors, expected the 8 of this run"}});
  CHECK(run_qtool(kRecord + "-o a.qcal --resume", dir).exit_code == 0);
  CHECK(read_file(dir / "a.qcal") == read_file(dir / "all.qcal"));
}

}  // namespace
}  // namespace qtool
