#include "catch.h"
#include "config/json.h"
#include "npy_writer.h"
#include "qtool_run.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

const std::filesystem::path kDigits = QTOOL_SOURCE_DIR "/calib_samples/digits";
const std::string kLine = "float16 model.onnx out.onnx ";

void fill(const TempDir& dir) {
  std::filesystem::copy_file(kDigits / "model.onnx", dir / "model.onnx");
  std::filesystem::create_directory_symlink(kDigits / "eval", dir / "eval");
}

void write_text_model(const TempDir& dir, const std::string& text) {
  dir.write("model.onnx", testing::text_proto(text).SerializeAsString());
}

TEST_CASE("float16: writes a model of half the size and its manifest", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine, dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.find("load check  loads") != std::string::npos);
  CHECK(result.out.find("1 made-up sample, cosine at least 1.0000") != std::string::npos);
  CHECK(std::filesystem::file_size(dir / "out.onnx") <
        std::filesystem::file_size(dir / "model.onnx") * 6 / 10);
  const std::string manifest = read_file(dir / "out.onnx.manifest.json");
  CHECK_NOTHROW(parse_json(manifest, "manifest"));
  CHECK(manifest.find("\"command\": \"float16\"") != std::string::npos);
  CHECK(manifest.find("\"keep_io_types\": true") != std::string::npos);
}

TEST_CASE("float16: two runs give the same bytes, with any number of threads", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kLine + "--threads 1", dir).exit_code == 0);
  const std::string first = read_file(dir / "out.onnx");
  REQUIRE(run_qtool(kLine + "--threads 2", dir).exit_code == 0);
  CHECK(read_file(dir / "out.onnx") == first);
}

TEST_CASE("float16: a dry run says what would be done and writes nothing", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine + "--dry-run --json", dir);
  CHECK(result.exit_code == 0);
  CHECK_NOTHROW(parse_json(result.out, "stdout"));
  CHECK_FALSE(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE("float16: gates are held against samples", "[cli]") {
  const TempDir dir;
  fill(dir);
  CHECK(run_qtool(kLine + "--data eval --min-cosine 0.999", dir).exit_code == 0);
  CHECK(run_qtool(kLine + "--keep-io-types false --data eval --min-cosine 0.999", dir).exit_code ==
        0);
  const ProcessResult unmet = run_qtool(kLine + "--data eval --min-cosine 1", dir);
  CHECK(unmet.exit_code == 4);
  CHECK(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE("float16: what is clamped is warned of and listed", "[cli]") {
  const TempDir dir;
  write_text_model(
      dir, "agraph (float[2] x) => (float[2] y) <float[2] w = {1e6, 1}> { y = Add (x, w) }");
  const ProcessResult result = run_qtool(kLine, dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err ==
        "qtool: warning: model.onnx: clamped at 65504: values up to 1e+06 in 1 "
        "tensor: w\n");
  CHECK(result.out.find("clamped values") != std::string::npos);
}

TEST_CASE("float16: a model without float32 is written as it is, with a warning", "[cli]") {
  const TempDir dir;
  write_text_model(dir, "agraph (int64[2] x) => (int64[2] y) { y = Add (x, x) }");
  const ProcessResult result = run_qtool(kLine, dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err ==
        "qtool: warning: model.onnx: nothing was converted: it has no float32 that can be "
        "float16\n");
}

TEST_CASE("float16: bfloat16 is checked as far as ONNX Runtime has kernels", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine + "--type bfloat16", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("load check  checker only: Could not find an implementation for") !=
        std::string::npos);
  CHECK(std::filesystem::exists(dir / "out.onnx"));
}

void write_sample(const TempDir& dir) {
  std::filesystem::create_directory(dir / "data");
  dir.write("data/0.npy", testing::npy<float>({4}, {1, 2, 3, 4}));
}

TEST_CASE("float16: outputs that stop being finite are warned of", "[cli]") {
  const TempDir dir;
  write_text_model(dir,
                   "agraph (float[4] x) => (float[4] y) <float s = {40000}> { y = Mul (x, s) }");
  write_sample(dir);
  const ProcessResult result =
      run_qtool(kLine + "--data data --keep-io-types false --check 1", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err ==
        "qtool: warning: output 'y' has 3 values that are not finite where the source model's are; "
        "float16.auto finds the nodes that must stay in float32\n");
}

TEST_CASE("float16: the search keeps in float32 what would be too far off", "[cli]") {
  const TempDir dir;
  // The second constant would be clamped.
  write_text_model(dir,
                   "agraph (float[4] x) => (float[4] y) <float a = {50000}, float b = {100000}> { "
                   "[first] s = Add (x, a) [second] d = Sub (s, b) [third] y = Abs (d) }");
  write_sample(dir);
  const ProcessResult result =
      run_qtool(kLine + "--data data --auto --set verify.min_sqnr_db=40 --json", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  const JsonValue json = parse_json(result.out, "stdout");
  CHECK(
      to_compact_json(*json.find("left_in_float")) ==
      R"({"nodes":[{"op_type":"Sub","reason":"its outputs would be too far off","names":["second"]}],"tensors":[]})");
}

TEST_CASE("float16: what cannot be is refused in one line", "[cli]") {
  const TempDir dir;
  fill(dir);
  const auto refused = [&](const std::string& options) {
    const ProcessResult result = run_qtool(kLine + options, dir);
    CHECK(result.exit_code == 2);
    CHECK_FALSE(std::filesystem::exists(dir / "out.onnx"));
    return result.err;
  };
  CHECK(refused("--max-finite-val 1e5") ==
        "qtool: error: float16.max_finite_val: found 100000, expected at most 65504, float16's "
        "largest number\n");
  CHECK(refused("--min-positive-val 7e4") ==
        "qtool: error: float16.min_positive_val: found 70000, expected less than max_finite_val, "
        "65504\n");
  CHECK(refused("--auto") ==
        "qtool: error: verify.data: is not set, expected a folder of samples for float16.auto\n  "
        "hint: --data DIR\n");
  CHECK(refused("--auto --data eval --type bfloat16") ==
        "qtool: error: float16.auto: ONNX Runtime runs no bfloat16 on CPUs, expected type "
        "float16\n");
  CHECK(refused("--node-block-list nothing_like_it_anywhere") ==
        "qtool: error: float16.node_block_list: 'nothing_like_it_anywhere' is no node of the "
        "model\n");
  CHECK(refused("--keep-io-types nothing_like_it_anywhere") ==
        "qtool: error: float16.keep_io_types: 'nothing_like_it_anywhere' is no input or output of "
        "the model\n");
  CHECK(refused("--check x") ==
        "qtool: error: --check: found 'x', expected a number of samples, 0 for none\n");
}

}  // namespace
}  // namespace qtool
