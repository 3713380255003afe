#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "error_text.h"
#include "model/model.h"
#include "model/save.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::TempDir;
using qtool::testing::text_proto;

namespace {

/// A generator of our own, so that a seed means the same bytes with every library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_;
};

/// Models with a bit of everything: subgraphs, functions, sparse, external, packed and typed
/// tensors.
std::vector<std::string> seeds() {
  onnx::ModelProto rich = text_proto(R"(
    <ir_version: 8, opset_import: ["" : 17, "local" : 1], metadata_props: ["k" : "v"]>
    g (float[N,4] x, bool c) => (float[N,4] y) <float[4] w = {1, 2, 3, 4}, int64[2] s = {-1, 4}, float[N,4] t> {
      k = Constant<value = float[1] {7}>()
      t = Add(x, w)
      r = Reshape(t, s)
      y = If(c) <then_branch = th () => (float[N,4] a) <float[1] v = {3}> { a = Mul(r, v) },
                 else_branch = el () => (float[N,4] b) { b = local.F(t, k) }>
    }
    <domain: "local", opset_import: ["" : 17]> F (i, j) => (o) { m = Mul(i, j) o = Relu(m) })");
  onnx::ModelProto tensors = text_proto(
      "g (float[16,16] x) => (float[16,16] y) { t = MatMul(x, w) u = Add(t, e) y = MatMul(u, p) }");
  auto& graph = *tensors.mutable_graph();
  auto& large = *graph.add_initializer();
  large.set_name("w");
  large.set_data_type(onnx::TensorProto::FLOAT);
  for (const int dim : {16, 16}) large.add_dims(dim);
  large.set_raw_data(std::string(1024, 'w'));
  auto& outside = *graph.add_initializer();
  outside = large;
  outside.set_name("e");
  outside.clear_raw_data();
  outside.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair{"location", "w.bin"}, {"offset", "16"}, {"length", "1024"}}) {
    auto& entry = *outside.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  auto& sparse = *graph.add_sparse_initializer();
  for (const int dim : {16, 16}) sparse.add_dims(dim);
  sparse.mutable_values()->set_name("p");
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(2);
  for (const float value : {1.0f, 2.0f}) sparse.mutable_values()->add_float_data(value);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(2);
  for (const int index : {3, 200}) sparse.mutable_indices()->add_int64_data(index);
  return {rich.SerializeAsString(), tensors.SerializeAsString()};
}

/// Changes, removes, doubles or moves a few bytes.
std::string mutated(std::string bytes, Random& random) {
  const std::size_t changes = 1 + random.below(4);
  for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = random.below(bytes.size());
    const std::size_t length = std::min(bytes.size() - at, 1 + random.below(12));
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(random.below(bytes.size()), bytes.substr(at, length));
        break;
      default:
        bytes.replace(at, length, std::string(length, static_cast<char>(random.below(2) * 255)));
    }
  }
  return bytes;
}

/// Without the care of write_file, which waits for the disk.
void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("load: a damaged model is refused in one line, or it loads, is written and loads again",
          "[model]") {
  const TempDir folder;
  folder.write("w.bin", std::string(1040, 'b'));
  const auto path = folder / "m.onnx";
  for (const std::string& seed : seeds()) {
    put(path, seed);
    REQUIRE(error_text([&] { load_model(path); }) == "");
    Random random(1);
    int loaded = 0;
    for (int round = 0; round < 1500; ++round) {
      put(path, mutated(seed, random));
      INFO("round " << round);
      const std::string refusal = error_text([&] {
        const Model model = load_model(path);
        ++loaded;
        const PendingModel pending(model, folder / "out.onnx", {});
        CHECK(error_text([&] { load_model(pending.path()); }) == "");
      });
      CHECK(refusal.substr(0, refusal.find("\n  hint: ")).find_first_of("\n\r\x1b") ==
            std::string::npos);
    }
    CHECK(loaded > 10);
  }
}
