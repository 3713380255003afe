#include <string>

#include "base/sha256.h"
#include "calibrate_run.h"
#include "config/json.h"
#include "npy_writer.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::npy;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

const std::string kCover = "calibrate -i m.onnx --calib-table t.qcal ";

/// A model of one Relu, a table over [-1, 4], and held-out data of two scenarios.
void fill_small(const TempDir& dir) {
  dir.write(
      "m.onnx",
      testing::text_proto("g (float[N] x) => (float[N] y) { y = Relu (x) }").SerializeAsString());
  dir.write("calib/c_0.npy", npy<float>({4}, {-1, 0, 1, 2}));
  dir.write("calib/c_1.npy", npy<float>({2}, {4, 0.5}));
  dir.write("held/day/d_0.npy", npy<float>({4}, {-1, 0, 1, 4}));
  dir.write("held/night/n_0.npy", npy<float>({2}, {-0.5, 3}));
  dir.write("held/night/n_1.npy", npy<float>({2}, {-2, 5}));
  REQUIRE(run_qtool("calibrate -i m.onnx --calib-data calib -o t.qcal", dir).exit_code == 0);
}

}  // namespace

TEST_CASE("coverage: data that the table was made of is covered exactly", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  for (const std::string method : {"minmax", "minmax --threads 1"}) {
    const ProcessResult result = run_qtool(
        kCover + "--coverage calib --max-clipped 0 --min-range-used 1 --calibrate-method " + method,
        dir);
    CHECK(result.err.empty());
    CHECK(result.exit_code == 0);
  }
}

TEST_CASE("coverage: text says per tensor and scenario what is clipped and where extremes are",
          "[cli]") {
  const TempDir dir;
  fill_small(dir);
  const ProcessResult result = run_qtool(kCover + "--coverage held", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("worst tensors of each scenario\n"
                        "  scenario    samples  tensor  clipped  range used\n"
                        "  held/day          1  x        0.00 %    100.00 %\n"
                        "                       y        0.00 %    100.00 %\n"
                        "  held/night        2  x       50.00 %    100.00 %\n"
                        "                       y       25.00 %    100.00 %\n") !=
        std::string::npos);
  CHECK(result.out.find("  x       25.00 %    100.00 %  -1 .. 4   -2  held/night/n_1    5  "
                        "held/night/n_1               -1  c_0                      4  c_1\n") !=
        std::string::npos);
}

TEST_CASE("coverage: gates that are not met end with 4 and are all named", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  const ProcessResult result = run_qtool(
      kCover + "--coverage held/night/ --max-clipped 0.1 --min-range-used 1 --report r.json", dir);
  CHECK(result.exit_code == 4);
  CHECK(result.err ==
        "qtool: error: gate not met: max_clipped 0.5 in tensor 'x' and 1 more, expected at most "
        "0.1\n");
  const JsonValue report = parse_json(read_file(dir / "r.json"), "r.json");
  CHECK(to_compact_json(report.find("gates")->as<JsonValue::List>()->front()) ==
        R"({"name":"max_clipped","limit":0.1,"value":0.5,"met":false,"failures":["x","y"]})");
  dir.write("small/a.npy", npy<float>({2}, {-0.5, 1}));
  CHECK(run_qtool(kCover + "--coverage small --min-range-used 0.5 --max-clipped 1", dir).err ==
        "qtool: error: gate not met: min_range_used 0.25 in tensor 'y' and 1 more, expected at "
        "least 0.5\n");
}

TEST_CASE("coverage: the result depends neither on threads nor on how scenarios are given",
          "[cli]") {
  const TempDir dir;
  fill_small(dir);
  const std::string one = run_qtool(kCover + "--coverage held --threads 1", dir).out;
  CHECK(run_qtool(kCover + "--coverage held --threads 4", dir).out == one);
  CHECK(run_qtool(kCover + "--coverage held/day held/night", dir).out == one);
  CHECK(run_qtool(kCover + "--coverage held/day --coverage held/night", dir).out == one);
}

TEST_CASE("coverage: the gates may stand in the config, and a dry run judges none", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  dir.write("c.json", R"({"calibration": {"table": "t.qcal", "max_clipped": 0.01}})");
  CHECK(run_qtool("calibrate -c c.json -i m.onnx --coverage held", dir).exit_code == 4);
  const ProcessResult dry =
      run_qtool("calibrate -c c.json -i m.onnx --coverage held --dry-run", dir);
  CHECK(dry.exit_code == 0);
  CHECK(dry.out.find("scenarios\n"
                     "  scenario    samples\n"
                     "  held/day          1\n"
                     "  held/night        2\n") != std::string::npos);
}

TEST_CASE("coverage: what does not fit is refused before any work", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  dir.write(
      "other.onnx",
      testing::text_proto("g (float[N] x) => (float[N] y) { y = Abs (x) }").SerializeAsString());
  const std::string other = sha256_of_file(dir / "other.onnx");
  const std::string own = sha256_of_file(dir / "m.onnx");
  check_refusals(
      dir,
      {{"calibrate -i m.onnx --coverage held", 2,
        "calibrate: no calibration table, expected --calib-table FILE or the key "
        "calibration.table"},
       {"calibrate -i other.onnx --calib-table t.qcal --coverage held", 3,
        "t.qcal: calibration table of another model: SHA-256 " + own + ", expected " + other},
       {kCover + "--coverage held -o x.qcal", 2,
        "--coverage: writes no output, found --output x.qcal\n"
        "  hint: --report FILE.json keeps the result"},
       {kCover + "--coverage held held/day", 2,
        "--coverage: found 'held/day' twice, expected it once"},
       {kCover + "--calib-data calib -o x.qcal", 2,
        "--calib-table: needs --coverage, found it without"},
       {"calibrate -i m.onnx --calib-data calib -o x.qcal --max-clipped 0", 2,
        "--max-clipped: needs --coverage, found it without"},
       {kCover + "--coverage held --resume", 2, "--resume: does not go together with --coverage"},
       {kCover + "--coverage held --max-clipped 2", 2,
        "--max-clipped: found 2, expected a number from 0 to 1"},
       {kCover + "--coverage absent", 5, "absent: cannot be read: No such file or directory"},
       {kCover + "--coverage held --report t.qcal.json --log-file t.qcal", 2,
        "--log-file: 't.qcal' is the calibration table too, expected another file"}});
}

TEST_CASE("coverage: a tensor that calibration saw nothing of is a warning", "[cli]") {
  const TempDir dir;
  fill_small(dir);
  dir.write("none/c.npy", npy<float>({0}, {}));
  REQUIRE(run_qtool("calibrate -i m.onnx --calib-data none -o t.qcal", dir).exit_code == 0);
  const ProcessResult result = run_qtool(kCover + "--coverage held --max-clipped 0", dir);
  CHECK(result.exit_code == 4);
  CHECK(result.err ==
        "qtool: warning: t.qcal: has no value of 'x' and 1 more tensors, expected values of every "
        "tensor of the held-out data\n"
        "qtool: error: gate not met: max_clipped not judged: no tensor has both a range and "
        "values, expected at most 0\n");
}

}  // namespace qtool
