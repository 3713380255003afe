#include <filesystem>
#include <string>
#include <vector>

#include "calibrate_run.h"
#include "config/json.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::fill;
using testing::kRecord;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

const std::string kStatic = "static model.onnx a.onnx --calib-data calib --max-samples 8 ";

/// The ends of all ranges in a cache, in its order.
std::vector<double> range_ends(const std::filesystem::path& cache) {
  const JsonValue json = parse_json(read_file(cache), "cache");
  std::vector<double> out;
  for (const JsonMember& tensor : *json.find("data")->as<JsonValue::Object>()) {
    for (const char* end : {"lowest", "highest"}) {
      const auto& values = *tensor.value.find(end)->find("data")->as<JsonValue::List>();
      out.push_back(std::stod(to_compact_json(values.front())));
    }
  }
  return out;
}

TEST_CASE("batch: joined samples give the ranges of single ones", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kStatic + "--calib-cache single.json", dir).exit_code == 0);
  const ProcessResult result =
      run_qtool(kStatic + "--calib-cache joined.json --set calibration.batch=3", dir);
  CHECK(result.err.empty());
  REQUIRE(result.exit_code == 0);
  const auto single = range_ends(dir / "single.json");
  const auto joined = range_ends(dir / "joined.json");
  REQUIRE(single.size() == joined.size());
  CHECK(single.size() == 10);
  for (std::size_t i = 0; i < single.size(); ++i)
    CHECK(joined[i] == Approx(single[i]).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("batch: where the model's is fixed, samples run one by one", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result =
      run_qtool(kStatic + "--set calibration.batch=3 --set preprocess.dims.batch=1", dir);
  CHECK(result.err ==
        "qtool: warning: calibration.batch: input 'image' is float32[1,1,8,8], expected a first "
        "axis that is free or 3 in all inputs: samples run one by one\n");
  CHECK(result.exit_code == 0);
}

TEST_CASE("batch: a model of just so many rows is given them", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string batch = "--set preprocess.dims.batch=4 --set calibration.batch=4";
  const ProcessResult result = run_qtool(kStatic + batch, dir);
  CHECK(result.err.empty());
  CHECK(result.exit_code == 0);
  check_refusals(dir, {{"static model.onnx b.onnx --calib-data calib --max-samples 6 " + batch, 3,
                        "sample '004': the model takes batches of 4, found 2 of its shape to "
                        "join\n  hint: calibration.max_samples can leave out the rest"}});
}

TEST_CASE("batch: is refused where single samples count", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string batch = " --set calibration.batch=2";
  check_refusals(
      dir, {{kRecord + "-o t.qcal" + batch, 2,
             "calibration.batch: a table keeps what single samples have, expected it for static"},
            {kStatic + "--set calibration.moving_average=true" + batch, 2,
             "calibration.batch: calibration.moving_average needs the extremes of single samples"},
            {kStatic + "--set calibration.stride=2" + batch, 2,
             "calibration.batch: calibration.stride needs the extremes of single samples"},
            {kStatic + "--set preset=onnxruntime --calibrate-method entropy" + batch, 2,
             "calibration.batch: bins as ONNX Runtime has them count samples one by one"}});
}

}  // namespace
}  // namespace qtool
