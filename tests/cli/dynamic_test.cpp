#include "catch.h"
#include "config/json.h"
#include "qtool_run.h"

namespace qtool {
namespace {

using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

const std::filesystem::path kDigits = QTOOL_SOURCE_DIR "/calib_samples/digits";
const std::string kLine = "dynamic model.onnx out.onnx ";

void fill(const TempDir& dir) {
  std::filesystem::copy_file(kDigits / "model.onnx", dir / "model.onnx");
  std::filesystem::create_directory_symlink(kDigits / "eval", dir / "eval");
}

TEST_CASE("dynamic: needs no data, and writes a model and its manifest", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine, dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.find("load check  loads") != std::string::npos);
  CHECK(result.out.find("Conv") != std::string::npos);
  CHECK(std::filesystem::exists(dir / "out.onnx"));
  const std::string manifest = read_file(dir / "out.onnx.manifest.json");
  CHECK_NOTHROW(parse_json(manifest, "manifest"));
  CHECK(manifest.find("\"command\": \"dynamic\"") != std::string::npos);
  CHECK(manifest.find("\"MatMulConstBOnly\": true") != std::string::npos);
  CHECK(manifest.find("\"becomes\": \"MatMulInteger, scaled\"") != std::string::npos);
  CHECK(result.out.find("MatMulInteger, scaled") != std::string::npos);
}

TEST_CASE("dynamic: two runs give the same bytes, with any number of threads", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kLine + "--threads 1", dir).exit_code == 0);
  const std::string first = read_file(dir / "out.onnx");
  REQUIRE(run_qtool(kLine + "--threads 2", dir).exit_code == 0);
  CHECK(read_file(dir / "out.onnx") == first);
}

TEST_CASE("dynamic: a dry run says what would be done and writes nothing", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine + "--dry-run --json", dir);
  CHECK(result.exit_code == 0);
  CHECK_NOTHROW(parse_json(result.out, "stdout"));
  CHECK_FALSE(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE("dynamic: gates are held against samples", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string asked = kLine + "--op-types-to-quantize Conv Gemm --data eval ";
  CHECK(run_qtool(asked + "--min-cosine 0.9", dir).exit_code == 0);
  const ProcessResult unmet = run_qtool(asked + "--min-cosine 0.9999999", dir);
  CHECK(unmet.exit_code == 4);
  CHECK(std::filesystem::exists(dir / "out.onnx"));
}

TEST_CASE("dynamic: the result is run beside the model, unless that is switched off", "[cli]") {
  const TempDir dir;
  fill(dir);
  CHECK(run_qtool(kLine, dir).out.find("1 made-up sample, cosine at least 0.99") !=
        std::string::npos);
  CHECK(read_file(dir / "out.onnx.manifest.json").find("\"samples\": 1") != std::string::npos);
  CHECK(run_qtool(kLine + "--check 3", dir).out.find("3 made-up samples") != std::string::npos);
  CHECK(run_qtool(kLine + "--check 0", dir).out.find("made-up") == std::string::npos);
  CHECK(run_qtool(kLine + "--no-load-check", dir).out.find("made-up") == std::string::npos);
  CHECK(run_qtool(kLine + "--check some", dir).err ==
        "qtool: error: --check: found 'some', expected a number of samples, 0 for none\n");
}

TEST_CASE("dynamic: external data is read and written with the same values", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string never = "--set model.external_data=never ",
                    always = "--set model.external_data=always ";
  REQUIRE(run_qtool(kLine + never, dir).exit_code == 0);
  const std::string expected = read_file(dir / "out.onnx");
  REQUIRE(run_qtool("preprocess model.onnx ext.onnx --set preprocess.enabled=false " + always, dir)
              .exit_code == 0);
  REQUIRE(run_qtool("preprocess model.onnx plain.onnx --set preprocess.enabled=false " + never, dir)
              .exit_code == 0);
  REQUIRE(run_qtool("dynamic ext.onnx a.onnx " + never, dir).exit_code == 0);
  REQUIRE(run_qtool("dynamic plain.onnx b.onnx " + never, dir).exit_code == 0);
  CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
  CHECK(run_qtool("dynamic ext.onnx c.onnx " + always, dir).exit_code == 0);
  CHECK(std::filesystem::exists(dir / "c.onnx.data"));
}

TEST_CASE("dynamic: a second run on its own output finds nothing more to do", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kLine, dir).exit_code == 0);
  const ProcessResult again = run_qtool("dynamic out.onnx twice.onnx", dir);
  CHECK(again.exit_code == 0);
  CHECK(again.out.find("0 quantized") != std::string::npos);
}

TEST_CASE("dynamic: int8 weights have 7 bits where 16-bit sums could saturate", "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool(kLine + "--preset cpu", dir).exit_code == 0);
  const std::string eight_bits = read_file(dir / "out.onnx");
  REQUIRE(run_qtool(kLine + "--preset cpu --reduce-range", dir).exit_code == 0);
  const std::string seven_bits = read_file(dir / "out.onnx");
  REQUIRE(seven_bits != eight_bits);
  REQUIRE(run_qtool(kLine + "--preset cpu-avx2", dir).exit_code == 0);
  CHECK(read_file(dir / "out.onnx") == seven_bits);
  CHECK(read_file(dir / "out.onnx.manifest.json").find("\"reduce_range\": true") !=
        std::string::npos);
  const std::string unsigned_weights = kLine + "--weight-type uint8 ";
  REQUIRE(run_qtool(unsigned_weights + "--preset cpu", dir).exit_code == 0);
  const std::string unsigned_bits = read_file(dir / "out.onnx");
  REQUIRE(run_qtool(unsigned_weights + "--preset cpu-avx2", dir).exit_code == 0);
  CHECK(read_file(dir / "out.onnx") == unsigned_bits);
}

TEST_CASE("dynamic: types without integer operators are refused", "[cli]") {
  const TempDir dir;
  fill(dir);
  const ProcessResult result = run_qtool(kLine + "--weight-type int4", dir);
  CHECK(result.exit_code == 2);
  CHECK(result.err ==
        "qtool: error: quantization.weight_type: found 'int4', expected int8 or uint8 for "
        "dynamic\n");
}

}  // namespace
}  // namespace qtool
