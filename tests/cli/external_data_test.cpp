#include <algorithm>

#include "catch.h"
#include "model/model.h"
#include "qtool_run.h"

namespace qtool {
namespace {

using testing::run_qtool;
using testing::TempDir;

const std::filesystem::path kDigits = QTOOL_SOURCE_DIR "/calib_samples/digits";
const std::string kStatic = " --calib-data calib --max-samples 5 -q ";

void fill(const TempDir& dir) {
  std::filesystem::copy_file(kDigits / "model.onnx", dir / "model.onnx");
  std::filesystem::create_directory_symlink(kDigits / "calib", dir / "calib");
}

/// Sizes of the initializers in the model file and outside of it, in bytes.
struct Stored {
  std::vector<std::size_t> inside, outside;
};

Stored stored_in(const std::filesystem::path& path) {
  onnx::ModelProto proto;
  REQUIRE(proto.ParseFromString(read_file(path)));
  const Model model = load_model(path);
  Stored out;
  for (int i = 0; i < proto.graph().initializer_size(); ++i) {
    const auto& tensor = proto.graph().initializer(i);
    const std::size_t bytes = model.tensor(model.graph().initializer(i)).bytes.size();
    const bool is_outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    (is_outside ? out.outside : out.inside).push_back(bytes);
  }
  return out;
}

TEST_CASE("external data: tensors from the threshold on lie in a file beside the model", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string line =
      "static model.onnx out.onnx" + kStatic + "--set model.external_data=always ";
  REQUIRE(run_qtool(line, dir).exit_code == 0);
  const Stored usual = stored_in(dir / "out.onnx");
  CHECK(std::filesystem::exists(dir / "out.onnx.data"));
  REQUIRE(!usual.outside.empty());
  CHECK(*std::ranges::min_element(usual.outside) >= 1024);
  CHECK(*std::ranges::max_element(usual.inside) < 1024);

  REQUIRE(run_qtool(line + "--set model.external_data_file=w.bin "
                           "--set model.external_data_threshold=0",
                    dir)
              .exit_code == 0);
  const Stored all = stored_in(dir / "out.onnx");
  CHECK(std::filesystem::exists(dir / "w.bin"));
  CHECK(all.inside.empty());
  CHECK(all.outside.size() == usual.inside.size() + usual.outside.size());
}

// Q23: onnxruntime.quantization appends to the file that is there.
TEST_CASE("external data: a second run replaces the file of the first", "[cli]") {
  const TempDir dir;
  fill(dir);
  const std::string line =
      "static model.onnx out.onnx" + kStatic + "--set model.external_data=always";
  REQUIRE(run_qtool(line, dir).exit_code == 0);
  const std::string model = read_file(dir / "out.onnx"), data = read_file(dir / "out.onnx.data");
  REQUIRE(run_qtool(line, dir).exit_code == 0);
  CHECK(read_file(dir / "out.onnx") == model);
  CHECK(read_file(dir / "out.onnx.data") == data);
}

TEST_CASE(
    "external data: weights given so quantize to the same; by default float ones stay outside",
    "[cli]") {
  const TempDir dir;
  fill(dir);
  REQUIRE(run_qtool("preprocess model.onnx plain.onnx -q", dir).exit_code == 0);
  REQUIRE(run_qtool("preprocess model.onnx apart.onnx -q --set model.external_data=always", dir)
              .exit_code == 0);
  REQUIRE(!stored_in(dir / "apart.onnx").outside.empty());
  REQUIRE(run_qtool("static plain.onnx a.onnx" + kStatic, dir).exit_code == 0);
  REQUIRE(run_qtool("static apart.onnx b.onnx" + kStatic + "--set model.external_data=never", dir)
              .exit_code == 0);
  CHECK(read_file(dir / "a.onnx") == read_file(dir / "b.onnx"));
  CHECK(stored_in(dir / "a.onnx").outside.empty());
  REQUIRE(
      run_qtool(
          "static apart.onnx c.onnx" + kStatic + "--set quantization.op_types_to_exclude=Gemm", dir)
          .exit_code == 0);
  CHECK(std::filesystem::exists(dir / "c.onnx.data"));
  CHECK(!stored_in(dir / "c.onnx").outside.empty());
}

}  // namespace
}  // namespace qtool
