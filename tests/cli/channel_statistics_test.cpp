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

/// One sample of two channels of 2 x 3 through two Convs: of a window, and of single positions.
void fill_conv(const TempDir& dir) {
  dir.write("c.onnx",
            testing::text_proto(R"(g (float[1,2,2,3] x) => (float[1,2,2,2] y, float[1,1,2,3] z)
      <float[2,1,1,2] v = {1, 2, 3, 4}, float[1,2,1,1] w = {1, 2}> {
        [taps] y = Conv <group = 2, auto_pad = "VALID"> (x, v)
        [positions] z = Conv (x, w)
      })")
                .SerializeAsString());
  dir.write("images/0.npy", npy<float>({1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 0, 1, 0, 2, 0, 3}));
}

/// A model of one Conv node `conv1` over an image with these channels, of all weights 1.
std::string conv_bytes(std::int64_t channels, std::int64_t group, std::int64_t size) {
  onnx::ModelProto model = testing::text_proto("g (float[1," + std::to_string(channels) +
                                               ",9,9] x) => (float[1,M,A,B] y) <float[1] b = {0}> "
                                               "{ [conv1] y = Conv <group = " +
                                               std::to_string(group) + "> (x, w) }");
  auto& weight = *model.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : {group, channels / group, size, size}) weight.add_dims(dim);
  weight.set_raw_data(
      std::string(static_cast<std::size_t>(channels * size * size) * sizeof(float), '\1'));
  return model.SerializeAsString();
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

TEST_CASE("second moments: a Conv has those of the rows that it sees", "[cli]") {
  const TempDir dir;
  fill_conv(dir);
  const std::string command = "calibrate -i c.onnx --calib-data images -o t.qcal ";
  REQUIRE(run_qtool(command + "--second-moments full", dir).exit_code == 0);
  CHECK(channels(dir) ==
        R"({"axis":1,"means":[3.5,1],"second_moments":{"kind":"full","rows":6,)"
        R"("sums_of_squares":[91,14]},"windows":[{"kernel":[1,2],"strides":[1,1],)"
        R"("dilations":[1,1],"auto_pad":"NOTSET","pads":[0,0,0,0],"group":2,"row_length":2,)"
        R"("rows":4,"sums_of_squares":[46,74,5,10]}]})");
  CHECK(run_qtool("inspect t.qcal", dir)
            .out.find("second moments  full, of 1 tensors and 1 windows of Convs") !=
        std::string::npos);
  REQUIRE(run_qtool(command + "--second-moments diagonal", dir).exit_code == 0);
  CHECK(channels(dir).find("windows") == std::string::npos);
}

TEST_CASE("second moments: shards, their order and threads change no byte", "[cli]") {
  const TempDir dir;
  testing::fill(dir);
  for (const std::string options :
       {"--per-channel-statistics --second-moments diagonal ",
        "--second-moments full --op-types-to-quantize Gemm ", "--second-moments full "}) {
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
  dir.write("conv.onnx", conv_bytes(513, 1, 3));
  dir.write("grouped.onnx", conv_bytes(1024, 2, 3));
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
        "--second-moments full: node 'conv1' (Conv): 4617 values a row take 170.6 MB, expected at "
        "most 4608 values a row" +
            hint},
       {"calibrate -i grouped.onnx --calib-data calib -o x.qcal --second-moments full", 2,
        "--second-moments full: matrices take 339.8 MB, expected at most 256.0 MB in all; the "
        "largest is that of node 'conv1' (Conv) with 339.8 MB" +
            hint},
       {"calibrate -i wide.onnx --calib-data calib -o x.qcal --second-moments full", 2,
        "--second-moments full: tensor 'x': 5000 channels take 200.0 MB, expected at most 4608 "
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
