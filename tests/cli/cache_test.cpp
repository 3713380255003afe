#include "calibrate_run.h"
#include "config/json.h"
#include "npy_writer.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::fill;
using testing::kRecord;
using testing::ProcessResult;
using testing::Refusal;
using testing::run_qtool;
using testing::TempDir;

const std::string kMeasured =
    "static model.onnx a.onnx --set preset=cpu --calib-data calib --max-samples 8 ";
const std::string kCached = "static model.onnx b.onnx --set preset=cpu --calib-cache c.json ";

JsonValue cache_in(const TempDir& dir) { return parse_json(read_file(dir / "c.json"), "c.json"); }

void replace_in_cache(const TempDir& dir, const std::string& from, const std::string& to) {
  std::string text = read_file(dir / "c.json");
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  dir.write("c.json", text.replace(at, from.size(), to));
}

TEST_CASE("cache: written by one run, it takes the place of the samples in the next", "[cli]") {
  for (const std::string options : {"", "--calibrate-method entropy", "--calibrate-method mse",
                                    "--set preset=onnxruntime --calibrate-method percentile"}) {
    INFO(options);
    const TempDir dir;
    fill(dir);
    const ProcessResult first = run_qtool(kMeasured + "--calib-cache c.json " + options, dir);
    CHECK(first.exit_code == 0);
    const std::string cache = read_file(dir / "c.json");
    std::filesystem::remove(dir / "calib");
    const ProcessResult second = run_qtool(kCached + options, dir);
    CHECK(second.err.empty());
    CHECK(second.exit_code == 0);
    CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
    CHECK(read_file(dir / "c.json") == cache);
  }
}

TEST_CASE("cache: without means no bias is corrected, which a warning says", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string options = "--set quantization.per_channel=false ";
  CHECK(run_qtool(kMeasured + "--calib-cache c.json " + options, dir).err.empty());
  CHECK(run_qtool(kCached + options, dir).err ==
        "qtool: warning: c.json: holds no means of channels: biases are not corrected\n");
  REQUIRE(run_qtool(kMeasured + options + "--set quantization.algorithms=[]", dir).exit_code == 0);
  CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
}

TEST_CASE("cache: the report says where the ranges come from", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kMeasured + "--calib-cache c.json", dir).exit_code == 0);
  const ProcessResult result = run_qtool(kCached, dir);
  CHECK(result.out.find("ranges of c.json") != std::string::npos);
  const JsonValue manifest = parse_json(read_file(dir / "b.onnx.manifest.json"), "manifest");
  CHECK(to_compact_json(*manifest.find("calibration")->find("cache")) == "\"c.json\"");
  CHECK(to_compact_json(*manifest.find("calibration")->find("sample_count")) == "0");
}

TEST_CASE("cache: that of calibrate serves static", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o t.qcal --calib-cache c.json", dir).exit_code == 0);
  REQUIRE(run_qtool(kCached, dir).exit_code == 0);
  REQUIRE(
      run_qtool("static model.onnx a.onnx --set preset=cpu --calib-table t.qcal", dir).exit_code ==
      0);
  CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
}

TEST_CASE("cache: one that does not serve is refused by what differs", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o t.qcal --calib-cache c.json", dir).exit_code == 0);
  check_refusals(dir, {{kCached + "--calibrate-method entropy", 3,
                        "c.json: calibration cache of another method: minmax, expected entropy, "
                        "that of calibration.method\n"
                        "  hint: without the file the ranges are measured anew"}});
  replace_in_cache(dir, "\"relu1.out\":", "\"other\":");
  const std::string lacks = "c.json: calibration cache lacks tensors: no 'relu1.out'";
  check_refusals(dir, {{kCached, 3,
                        lacks + ", expected all 5 of this run\n"
                                "  hint: it is of another model, or was made with other options"}});
  const ProcessResult peer =
      run_qtool(kCached + "--set preset=onnxruntime --set preprocess.enabled=true", dir);
  CHECK(peer.exit_code == 0);
  CHECK(peer.err == "qtool: warning: " + lacks + "; they stay in float\n");
  std::filesystem::copy_file(dir / "t.qcal", dir / "table.json");
  check_refusals(dir, {{"static model.onnx b.onnx --calib-cache table.json", 3,
                        "table.json: is a calibration table, expected ONNX Runtime's JSON cache\n"
                        "  hint: tables are read by the key calibration.table"}});
  dir.write("c.json", "{\"data\": ");
  CHECK(run_qtool(kCached, dir).exit_code == 3);
}

TEST_CASE("cache: of a model that SmoothQuant changed, it is made anew", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kMeasured + "--calib-cache c.json", dir).exit_code == 0);
  const std::string cache = read_file(dir / "c.json");
  replace_in_cache(dir, "\"smooth_quant\":false", "\"smooth_quant\":true");
  const std::string warning =
      "c.json: made with smooth_quant true, this run has false: the ranges are measured anew and "
      "the cache is overwritten\n";
  const ProcessResult without_data = run_qtool(kCached, dir);
  CHECK(without_data.exit_code == 2);
  CHECK(without_data.err ==
        "qtool: warning: " + warning +
            "qtool: error: calibration.data: is not set and c.json gives no ranges, expected a "
            "folder of samples\n");
  CHECK(run_qtool(kMeasured + "--calib-cache c.json", dir).err == "qtool: warning: " + warning);
  CHECK(read_file(dir / "c.json") == cache);
}

TEST_CASE("cache: without its file and without samples there is nothing to go by", "[cli]") {
  const TempDir dir;
  fill(dir);
  check_refusals(dir,
                 {{kCached, 2,
                   "calibration.data: is not set and c.json gives no ranges, expected a folder "
                   "of samples"},
                  {"static -i model.onnx -o c.json --calib-cache c.json --calib-data calib", 2,
                   "calibration.cache: 'c.json' is model.output too, expected another file"}});
}

TEST_CASE("cache: preset onnxruntime keeps its histograms", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string line = kRecord + "-o t.qcal --calib-cache c.json --set preset=onnxruntime ";
  REQUIRE(run_qtool(line + "--calibrate-method entropy", dir).exit_code == 0);
  const JsonValue counted = cache_in(dir);
  const JsonValue& entropy = *counted.find("data")->find("image");
  CHECK(entropy.find("hist")->find("data")->as<JsonValue::List>()->size() == 128);
  CHECK(entropy.find("bins")->find("data")->as<JsonValue::List>()->size() == 129);
  REQUIRE(run_qtool(line + "--calibrate-method distribution", dir).exit_code == 0);
  const JsonValue spread = cache_in(dir);
  const JsonValue& distribution = *spread.find("data")->find("image");
  for (const char* key : {"avg", "std", "lowest", "highest", "hist", "hist_edges"}) {
    INFO(key);
    CHECK(distribution.find(key) != nullptr);
  }
}

TEST_CASE("cache: with per_channel each tensor has a range for each of its channels", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(
      run_qtool(kRecord + "-o t.qcal --calib-cache c.json --set calibration.per_channel=true", dir)
          .exit_code == 0);
  std::size_t most = 0;
  const JsonValue cache = cache_in(dir);
  for (const JsonMember& tensor : *cache.find("data")->as<JsonValue::Object>()) {
    const auto count = tensor.value.find("lowest")->find("data")->as<JsonValue::List>()->size();
    most = std::max(most, count);
  }
  CHECK(most > 1);
  const ProcessResult result = run_qtool(kCached, dir);
  CHECK(result.exit_code == 3);
  CHECK(result.err.find("ranges, one per channel, expected one") != std::string::npos);
}

TEST_CASE("cache: ranges of channels are the same from shards, a resumed run and an export",
          "[cli]") {
  const TempDir dir;
  fill(dir);
  const auto run = [&](const std::string& line) { REQUIRE(run_qtool(line, dir).exit_code == 0); };
  const std::string record = kRecord + "--set calibration.per_channel=true ";
  for (const std::string symmetric : {"", " --set calibration.symmetric=true"}) {
    run(record + "-o all.qcal --threads 4 --calib-cache whole.json" + symmetric);
    run(record + "-o a.qcal --shard 0/2");
    run(record + "-o b.qcal --shard 1/2");
    run("calibrate --merge b.qcal a.qcal -o m.qcal");
    CHECK(read_file(dir / "m.qcal") == read_file(dir / "all.qcal"));
    run("calibrate --export onnxruntime m.qcal -o exported.json --set "
        "calibration.per_channel=true" +
        symmetric);
    CHECK(read_file(dir / "exported.json") == read_file(dir / "whole.json"));
    run("calibrate --merge a.qcal -o part.qcal");
    run(record + "-o part.qcal --resume --calib-cache resumed.json" + symmetric);
    CHECK(read_file(dir / "part.qcal") == read_file(dir / "all.qcal"));
    CHECK(read_file(dir / "resumed.json") == read_file(dir / "whole.json"));
    for (const char* cache : {"whole.json", "resumed.json"}) std::filesystem::remove(dir / cache);
  }
}

TEST_CASE("cache: a table shows the extremes of channels, as JSON ranges of them", "[cli]") {
  const TempDir dir;
  dir.write("m.onnx",
            testing::text_proto("g (float[1,2,2] x) => (float[1,2,2] y) { y = Sigmoid (x) }")
                .SerializeAsString());
  dir.write("calib/0.npy", testing::npy<float>({1, 2, 2}, {1, -2, 3, 4}));
  dir.write("calib/1.npy", testing::npy<float>({1, 2, 2}, {0, 2, 5, 3.5F}));
  const std::string channels = " --set calibration.per_channel=true ";
  REQUIRE(run_qtool("calibrate -i m.onnx --calib-data calib -o t.qcal" + channels, dir).exit_code ==
          0);
  const auto ranges = [](const JsonValue& report) {
    for (const JsonValue& tensor : *report.find("tensors")->as<JsonValue::List>()) {
      if (to_compact_json(*tensor.find("name")) == "\"x\"")
        return to_compact_json(*tensor.find("channel_ranges"));
    }
    return std::string("no tensor");
  };
  const std::string measured = R"([{"min":-2,"max":2},{"min":3,"max":5}])";
  const JsonValue report = parse_json(run_qtool("inspect t.qcal --json", dir).out, "inspect");
  CHECK(ranges(report) == measured);
  CHECK(to_compact_json(*report.find("has_channel_extremes")) == "true");
  REQUIRE(run_qtool("calibrate --export json t.qcal -o r.json --set calibration.symmetric=true" +
                        channels,
                    dir)
              .exit_code == 0);
  CHECK(ranges(parse_json(read_file(dir / "r.json"), "r.json")) ==
        R"([{"min":-2,"max":2},{"min":-5,"max":5}])");
}

TEST_CASE("cache: what per_channel and strides do not go with is refused", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o a.qcal", dir).exit_code == 0);
  const std::string channels = " --set calibration.per_channel=true";
  const std::string cached = kRecord + "-o t.qcal --calib-cache c.json" + channels;
  check_refusals(
      dir,
      {{kMeasured + channels, 2,
        "calibration.per_channel: an activation has one range in a model, expected it for "
        "calibrate"},
       {cached + " --calibrate-method entropy", 2,
        "calibration.per_channel: found method 'entropy', expected minmax without an average"},
       {cached + " --set calibration.moving_average=true", 2,
        "calibration.per_channel: found method 'minmax' with moving_average, expected minmax "
        "without an average"},
       {cached + " --shard 0/2", 2,
        "calibration.cache: holds ranges over all samples, expected none with --shard\n"
        "  hint: qtool calibrate --export onnxruntime writes it from the merged table"},
       {"calibrate --export tensorrt a.qcal -o r.json" + channels, 2,
        "calibration.per_channel: a tensor has one range in this format, expected json or "
        "onnxruntime"},
       {"calibrate --export json a.qcal -o r.json" + channels, 3,
        "a.qcal: calibration table without what calibration.per_channel needs: no extremes of "
        "channels, expected those of all tensors\n"
        "  hint: qtool calibrate with calibration.per_channel records them"},
       {"calibrate --export json a.qcal -o r.json --calibrate-method distribution", 2,
        "calibration.method: 'distribution' gives no ranges, expected another for this format\n"
        "  hint: --export onnxruntime writes averages and deviations"},
       {kRecord + "-o t.qcal --calib-cache c.json --calibrate-method distribution --set "
                  "calibration.num_bins=100",
        2, "calibration.num_bins: 100, expected at least 512 for method distribution"},
       {kMeasured + "--set calibration.stride=3", 2,
        "calibration.stride: 3 does not divide the 8 samples, expected a divisor"},
       {kMeasured + "--set calibration.stride=2 --calibrate-method mse", 2,
        "calibration.stride: found method 'mse', expected minmax"}});
}

TEST_CASE("stride: neither threads nor shards change the average", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string average = " --set calibration.moving_average=true --set calibration.stride=";
  REQUIRE(run_qtool(kMeasured + average + "2 --threads 1", dir).exit_code == 0);
  const std::string strided = read_file(dir / "a.onnx");
  REQUIRE(run_qtool(kMeasured + average + "2 --threads 4", dir).exit_code == 0);
  CHECK(read_file(dir / "a.onnx") == strided);
  REQUIRE(run_qtool(kMeasured + average + "8", dir).exit_code == 0);
  CHECK(read_file(dir / "a.onnx") != strided);

  REQUIRE(run_qtool(kRecord + "-o all.qcal" + average + "8", dir).exit_code == 0);
  REQUIRE(run_qtool(kRecord + "-o p.qcal --shard 0/2" + average + "4", dir).exit_code == 0);
  REQUIRE(run_qtool(kRecord + "-o q.qcal --shard 1/2" + average + "4", dir).exit_code == 0);
  REQUIRE(run_qtool("calibrate --merge q.qcal p.qcal -o pq.qcal", dir).exit_code == 0);
  CHECK(read_file(dir / "pq.qcal") == read_file(dir / "all.qcal"));
  const std::string tabled = "static model.onnx --set preset=cpu --calib-table pq.qcal -o ";
  REQUIRE(run_qtool(tabled + "b.onnx" + average + "2", dir).exit_code == 0);
  // Samples run without blocked layouts here, for the table with them.
  CHECK(run_qtool("compare a.onnx b.onnx --data calib --min-sqnr-db 60", dir).exit_code == 4);
  REQUIRE(run_qtool(kMeasured + average + "2", dir).exit_code == 0);
  CHECK(run_qtool("compare a.onnx b.onnx --data calib --min-sqnr-db 60", dir).exit_code == 0);
}

TEST_CASE("stride: a table without extremes of samples is refused", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o a.qcal", dir).exit_code == 0);
  const std::string average = " --set calibration.moving_average=true --set calibration.stride=2";
  const std::string error =
      "a.qcal: calibration table without what calibration.stride needs: no extremes of single "
      "samples, expected those of all samples\n"
      "  hint: qtool calibrate with calibration.stride records them";
  check_refusals(dir, {{"static model.onnx b.onnx --calib-table a.qcal" + average, 3, error},
                       {"calibrate --export json a.qcal -o r.json" + average, 3, error},
                       {kRecord + "-o a.qcal --resume" + average, 3,
                        "a.qcal: calibration table of another kind: extremes of single samples not "
                        "recorded, expected recorded"}});
}

}  // namespace
}  // namespace qtool
