#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"
#include "error_text.h"
#include "model/model.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::TempDir;
using qtool::testing::text_proto;

namespace {

onnx::ModelProto matmul(std::int64_t width) {
  onnx::ModelProto model = text_proto("g (float[N,K] x) => (float[N,K] y) { y = MatMul(x, w) }");
  auto& weight = *model.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(width);
  weight.add_dims(width);
  return model;
}

std::string refusal(const TempDir& folder, const onnx::ModelProto& model) {
  const auto path = folder.write("m.onnx", model.SerializeAsString());
  std::string text = error_text([&] { load_model(path); });
  const std::string where = path.string() + ": ";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

void set_location(onnx::TensorProto& tensor, const std::string& location) {
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  tensor.clear_external_data();
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
}

}  // namespace

TEST_CASE("load: a file that cannot be read is no bad model", "[model]") {
  const TempDir folder;
  const auto kind_of = [](const std::filesystem::path& path) {
    try {
      load_model(path);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Internal;
  };
  CHECK(kind_of(folder / "missing.onnx") == ErrorKind::Io);
  CHECK(kind_of(folder.path()) == ErrorKind::Io);
  CHECK(kind_of("/dev/null") == ErrorKind::Io);
  CHECK(kind_of(folder.write("text.onnx", "text")) == ErrorKind::Input);
}

TEST_CASE("load: large tensors are references into the file, small ones are at hand", "[model]") {
  const TempDir folder;
  onnx::ModelProto large = matmul(20);
  for (int i = 0; i < 400; ++i)
    large.mutable_graph()->mutable_initializer(0)->add_float_data(static_cast<float>(i));
  const Model model = load_model(folder.write("large.onnx", large.SerializeAsString()));
  const auto& weight = model.graph().initializer(0);
  CHECK(weight.data_location() == onnx::TensorProto::EXTERNAL);
  CHECK(weight.external_data(0).value() == model.data_files()[0].location);
  CHECK(to_float32(model.tensor(weight))[399] == 399);

  onnx::ModelProto small = matmul(2);
  for (int i = 0; i < 4; ++i)
    small.mutable_graph()->mutable_initializer(0)->add_float_data(static_cast<float>(i));
  const Model read = load_model(folder.write("small.onnx", small.SerializeAsString()));
  CHECK(read.graph().initializer(0).raw_data().size() == 16);
  CHECK(read.graph().initializer(0).float_data_size() == 0);
}

TEST_CASE("load: small external tensors are taken in, large ones stay", "[model]") {
  const TempDir folder;
  folder.write("w.bin", std::string(1600, '\0'));
  onnx::ModelProto small = matmul(2);
  set_location(*small.mutable_graph()->mutable_initializer(0), "w.bin");
  const Model taken = load_model(folder.write("small.onnx", small.SerializeAsString()));
  CHECK(taken.graph().initializer(0).raw_data().size() == 16);
  CHECK_FALSE(taken.graph().initializer(0).has_data_location());

  onnx::ModelProto large = matmul(20);
  set_location(*large.mutable_graph()->mutable_initializer(0), "w.bin");
  const Model left = load_model(folder.write("large.onnx", large.SerializeAsString()));
  CHECK(left.graph().initializer(0).external_data(0).value() == left.data_files()[1].location);
  CHECK(left.tensor_bytes(left.graph().initializer(0)).size() == 1600);
}

TEST_CASE("load: sizes are checked against shape and type wherever the values are", "[model]") {
  const TempDir folder;
  folder.write("w.bin", std::string(1600, '\0'));
  onnx::ModelProto model = matmul(20);
  auto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.set_raw_data(std::string(1604, '\0'));
  CHECK(refusal(folder, model) ==
        "tensor 'w': has 1604 bytes of values, expected 1600 by its shape and type");
  weight.set_raw_data(std::string(20, '\0'));
  CHECK(refusal(folder, model) ==
        "tensor 'w': raw_data has 20 bytes, expected 1600 by its shape and type");
  set_location(weight, "w.bin");
  CHECK(refusal(folder, model) == "tensor 'w': has values in the model and in external data");
  weight.clear_raw_data();
  weight.set_dims(0, 21);
  CHECK(refusal(folder, model) ==
        "tensor 'w': external data 'w.bin' has 1600 bytes, expected 1680 from byte 0 on");
  weight.set_dims(0, -1);
  CHECK(refusal(folder, model) == "tensor 'w': impossible shape -1x20");
  weight.set_dims(0, 20);
  weight.set_data_type(onnx::TensorProto::STRING);
  CHECK(refusal(folder, model) == "tensor 'w': strings cannot be external data");
}

TEST_CASE("load: names of strangers are fit for a terminal", "[model]") {
  const TempDir folder;
  onnx::ModelProto model = text_proto("g (float[N] x) => (float[N] y) { [n] y = Add(x, x) }");
  model.mutable_graph()->mutable_node(0)->set_input(1, std::string("\x1b[2Jgh\0st", 9));
  CHECK(refusal(folder, model) ==
        "node 'n' (Add): input '\\x1b[2Jgh\\x00st' is made by no node and is no graph input or "
        "initializer");
}

TEST_CASE("load: 20,000 unused initializers take no time", "[model]") {
  const TempDir folder;
  onnx::ModelProto model = text_proto("g (float[N] x) => (float[N] y) { y = Neg(x) }");
  for (int i = 0; i < 20'000; ++i) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("unused" + std::to_string(i));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(1);
    tensor.add_float_data(1);
  }
  const Model loaded = load_model(folder.write("m.onnx", model.SerializeAsString()));
  CHECK(loaded.graph().initializer_size() == 20'000);
}
