#include <string>

#include "calibrate_run.h"
#include "config/json.h"
#include "npy_writer.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::npy;
using testing::run_qtool;
using testing::TempDir;

const std::string kCalibrate = "calibrate -i m.onnx --calib-data calib ";

/// Two samples of two rows each through one MatMul.
void fill_small(const TempDir& dir) {
  dir.write("m.onnx", testing::text_proto(R"(g (float[2,2] x) => (float[2,1] y)
      <float[2,1] w = {1, 2}> { [head] y = MatMul (x, w) })")
                          .SerializeAsString());
  dir.write("calib/s_0.npy", npy<float>({2, 2}, {1, -2, 3, 4}));
  dir.write("calib/s_1.npy", npy<float>({2, 2}, {-5, 0, 0.5F, 1}));
}

/// Member `channels` of the tensor `x` in the table.
std::string channels(const TempDir& dir, const std::string& table = "t.qcal") {
  const JsonValue report =
      parse_json(run_qtool("inspect " + table + " --json", dir).out, "inspect");
  for (const JsonValue& tensor : *report.find("tensors")->as<JsonValue::List>()) {
    if (to_compact_json(*tensor.find("name")) != "\"x\"") continue;
    const JsonValue* found = tensor.find("channels");
    return found == nullptr ? "none" : to_compact_json(*found);
  }
  return "no tensor";
}

}  // namespace

TEST_CASE("per-channel statistics: the table has magnitude and mean of each channel", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  CHECK(run_qtool(kCalibrate + "-o t.qcal --per-channel-statistics", dir).exit_code == 0);
  CHECK(channels(dir) == R"({"axis":-1,"means":[-0.125,0.75],"largest":[5,4]})");
  const JsonValue manifest = parse_json(read_file(dir / "t.qcal.manifest.json"), "manifest");
  CHECK(to_compact_json(*manifest.find("per_channel_statistics")) == "true");
  CHECK(run_qtool(kCalibrate + "-o none.qcal", dir).exit_code == 0);
  CHECK(channels(dir, "none.qcal") == "none");
}

TEST_CASE("second moments: the table has those of each channel", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  for (const std::string kind : {"diagonal", "full"}) {
    CHECK(run_qtool(kCalibrate + "-o t.qcal --second-moments " + kind, dir).exit_code == 0);
    CHECK(channels(dir) == R"({"axis":-1,"means":[-0.125,0.75],"second_moments":{"kind":")" + kind +
                               R"(","rows":4,"sums_of_squares":[35.25,21]}})");
  }
}

TEST_CASE("second moments: shards, their order and threads change no byte", "[cli]") {
  const TempDir dir;
  testing::fill(dir);
  for (const std::string options : {"--per-channel-statistics --second-moments diagonal ",
                                    "--second-moments full --op-types-to-quantize Gemm "}) {
    const auto run = [&](const std::string& rest) {
      REQUIRE(run_qtool(testing::kRecord + options + rest, dir).exit_code == 0);
    };
    run("-o all.qcal --threads 4");
    run("-o one.qcal --threads 1");
    run("-o a.qcal --shard 0/2");
    run("-o b.qcal --shard 1/2");
    run("-o b.qcal --shard 1/2 --resume");
    REQUIRE(run_qtool("calibrate --merge b.qcal a.qcal -o m.qcal", dir).exit_code == 0);
    CHECK(read_file(dir / "one.qcal") == read_file(dir / "all.qcal"));
    CHECK(read_file(dir / "m.qcal") == read_file(dir / "all.qcal"));
  }
}

TEST_CASE("second moments: static takes the same ranges from such a table", "[cli]") {
  const TempDir dir;
  testing::fill(dir);
  REQUIRE(run_qtool(testing::kRecord + "-o plain.qcal", dir).exit_code == 0);
  REQUIRE(run_qtool(testing::kRecord + "-o more.qcal --second-moments diagonal "
                                       "--per-channel-statistics",
                    dir)
              .exit_code == 0);
  REQUIRE(run_qtool("static model.onnx a.onnx --set preset=cpu --calib-table plain.qcal", dir)
              .exit_code == 0);
  REQUIRE(run_qtool("static model.onnx b.onnx --set preset=cpu --calib-table more.qcal", dir)
              .exit_code == 0);
  CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
}

TEST_CASE("second moments: what has no meaning or no room is refused by its name", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  const std::string hint =
      "\n  hint: --second-moments diagonal takes every tensor; --op-types-to-quantize records some "
      "operators only";
  dir.write("conv.onnx", testing::text_proto(R"(g (float[1,1,4,4] x) => (float[1,1,3,3] y)
      <float[1,1,2,2] w = {1, 2, 3, 4}> { [conv1] y = Conv (x, w) })")
                             .SerializeAsString());
  onnx::ModelProto wide = testing::text_proto(
      "g (float[1,5000] x) => (float[1,1] y) <float[1] b = {0}> { [head] y = MatMul (x, w) }");
  auto& weight = *wide.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(5000);
  weight.add_dims(1);
  weight.set_raw_data(std::string(5000 * sizeof(float), '\1'));
  dir.write("wide.onnx", wide.SerializeAsString());
  check_refusals(
      dir,
      {{"calibrate -i conv.onnx --calib-data calib -o x.qcal --second-moments full", 2,
        "--second-moments full: node 'conv1' (Conv): its rows are windows, groups or strides, "
        "expected a MatMul, a Gemm or a Conv of single positions" +
            hint},
       {"calibrate -i wide.onnx --calib-data calib -o x.qcal --second-moments full", 2,
        "--second-moments full: tensor 'x': 5000 channels take 200.0 MB, expected at most 4096 "
        "channels" +
            hint},
       {kCalibrate + "-o x.qcal --second-moments half", 2,
        "--second-moments: unknown kind 'half', expected diagonal or full"},
       {"calibrate --merge a.qcal -o x.qcal --second-moments full", 2,
        "--second-moments: does not go together with --merge"},
       {"calibrate --export json a.qcal -o x.json --per-channel-statistics", 2,
        "--per-channel-statistics: does not go together with --export"}});
}

TEST_CASE("second moments: a table without them is no part of one with them", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  REQUIRE(run_qtool(kCalibrate + "-o a.qcal --shard 0/2 --second-moments full", dir).exit_code ==
          0);
  REQUIRE(
      run_qtool(kCalibrate + "-o b.qcal --shard 1/2 --second-moments diagonal", dir).exit_code ==
      0);
  const std::string hint =
      "\n  hint: --per-channel-statistics and --second-moments must be the same";
  check_refusals(
      dir, {{"calibrate --merge a.qcal b.qcal -o x.qcal", 3,
             "b.qcal: calibration table of other channels, expected those of a.qcal" + hint},
            {kCalibrate + "-o a.qcal --shard 0/2 --resume", 3,
             "a.qcal: calibration table of other channels, expected those of this run" + hint}});
}

}  // namespace qtool
