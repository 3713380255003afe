#include "model/save.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "base/sha256.h"
#include "catch.h"
#include "error_text.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::TempDir;
using qtool::testing::text_proto;

namespace fs = std::filesystem;

namespace {

onnx::TensorProto tensor_of(const std::string& name, std::size_t bytes, char fill) {
  const std::string values(bytes, fill);
  const std::int64_t shape[] = {static_cast<std::int64_t>(bytes)};
  return make_tensor(name, ElementType::UInt8, shape,
                     std::as_bytes(std::span(values.data(), bytes)));
}

/// Large and small initializers, in a subgraph as well.
onnx::ModelProto model_with_tensors() {
  onnx::ModelProto model = text_proto(R"(g (uint8[N] x, bool c) => (uint8[N] y) {
      k = Constant()
      s = Concat<axis = 0>(x, large, small, k)
      y = If(c) <then_branch = t () => (uint8[N] a) { a = Concat<axis = 0>(s, inner) },
                 else_branch = e () => (uint8[N] b) { b = Identity(s) }>
    })");
  *model.mutable_graph()->add_initializer() = tensor_of("large", 70'000, 'l');
  *model.mutable_graph()->add_initializer() = tensor_of("small", 10, 's');
  auto& constant = *model.mutable_graph()->mutable_node(0)->add_attribute();
  constant.set_name("value");
  constant.set_type(onnx::AttributeProto::TENSOR);
  *constant.mutable_t() = tensor_of("", 2000, 'k');
  *model.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g()->add_initializer() =
      tensor_of("inner", 3000, 'i');
  return model;
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

constexpr ExternalDataOptions kAlways{.mode = ExternalDataOptions::Mode::Always, .file_name = {}};

std::string text_of(const Model& model, const onnx::TensorProto& tensor) {
  const auto bytes = model.tensor_bytes(tensor);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("save: a loaded model is written byte for byte as it was", "[model]") {
  const TempDir folder;
  const std::string bytes = model_with_tensors().SerializeAsString();
  const Model model = load_model(folder.write("m.onnx", bytes));
  PendingModel pending(model, folder / "out.onnx", {});
  pending.commit();
  CHECK(read_file(folder / "out.onnx") == bytes);
  CHECK(pending.bytes() == bytes.size());
  CHECK(pending.sha256() == sha256_of_file(folder / "m.onnx"));
  REQUIRE(pending.files().size() == 1);
  CHECK(pending.files()[0].path == folder / "out.onnx");
}

TEST_CASE("save: nothing appears before commit, and nothing is left without it", "[model]") {
  const TempDir folder;
  folder.write("out.onnx", "old");
  folder.write("out.onnx.data", "old data");
  const Model model(model_with_tensors());
  {
    PendingModel pending(model, folder / "out.onnx", kAlways);
    CHECK(read_file(folder / "out.onnx") == "old");
    CHECK(load_model(pending.path()).graph().initializer_size() == 2);
  }
  CHECK(read_file(folder / "out.onnx") == "old");
  CHECK(read_file(folder / "out.onnx.data") == "old data");
  CHECK(entries_in(folder.path()) == 2);
}

TEST_CASE("save: external data holds the large initializers and can be read back", "[model]") {
  const TempDir folder;
  const Model model(model_with_tensors());
  PendingModel pending(model, folder / "out.onnx", kAlways);
  pending.commit();
  CHECK(entries_in(folder.path()) == 2);
  REQUIRE(pending.files().size() == 2);
  CHECK(pending.files()[1].path == folder / "out.onnx.data");
  CHECK(pending.files()[0].sha256 == sha256_of_file(folder / "out.onnx"));
  CHECK(pending.files()[1].sha256 == sha256_of_file(folder / "out.onnx.data"));
  CHECK(pending.files()[1].bytes == fs::file_size(folder / "out.onnx.data"));
  CHECK(pending.bytes() ==
        fs::file_size(folder / "out.onnx") + fs::file_size(folder / "out.onnx.data"));

  const Model read = load_model(folder / "out.onnx");
  CHECK(text_of(read, read.graph().initializer(0)) == std::string(70'000, 'l'));
  CHECK(text_of(read, read.graph().initializer(1)) == std::string(10, 's'));
  CHECK(text_of(read, read.graph().node(0).attribute(0).t()) == std::string(2000, 'k'));
  const auto& branch = read.graph().node(2).attribute(0).g();
  CHECK(text_of(read, branch.initializer(0)) == std::string(3000, 'i'));
  CHECK(read.data_files().size() == 2);
}

TEST_CASE("save: large external tensors start on a page", "[model]") {
  const TempDir folder;
  const Model model(model_with_tensors());
  PendingModel(model, folder / "out.onnx", kAlways).commit();
  onnx::ModelProto written;
  REQUIRE(written.ParseFromString(read_file(folder / "out.onnx")));
  const auto& large = written.graph().initializer(0);
  CHECK(large.external_data(0).value() == "out.onnx.data");
  CHECK(large.external_data(1).value() == "4096");
  CHECK(large.external_data(2).value() == "70000");
}

TEST_CASE("save: external data is kept where the input had some", "[model]") {
  const TempDir folder;
  PendingModel(Model(model_with_tensors()), folder / "in.onnx", kAlways).commit();
  const Model model = load_model(folder / "in.onnx");
  PendingModel(model, folder / "auto.onnx", {}).commit();
  CHECK(fs::exists(folder / "auto.onnx.data"));
  PendingModel(model, folder / "never.onnx",
               {.mode = ExternalDataOptions::Mode::Never, .file_name = {}})
      .commit();
  CHECK_FALSE(fs::exists(folder / "never.onnx.data"));
  CHECK(read_file(folder / "never.onnx") == model_with_tensors().SerializeAsString());
}

TEST_CASE("save: a second run replaces the external data of the first", "[model]") {
  const TempDir folder;
  const Model model(model_with_tensors());
  PendingModel(model, folder / "out.onnx", kAlways).commit();
  const std::string first = read_file(folder / "out.onnx.data");
  PendingModel(model, folder / "out.onnx", kAlways).commit();
  CHECK(read_file(folder / "out.onnx.data") == first);
  CHECK(entries_in(folder.path()) == 2);
}

TEST_CASE("save: the name of the data and the smallest tensor in it can be chosen", "[model]") {
  const TempDir folder;
  const Model model(model_with_tensors());
  ExternalDataOptions options = kAlways;
  options.file_name = "weights.bin";
  options.threshold_bytes = 5000;
  PendingModel(model, folder / "out.onnx", options).commit();
  CHECK(fs::file_size(folder / "weights.bin") == 70'000);
  options.threshold_bytes = 100'000;
  PendingModel(model, folder / "none.onnx", options).commit();
  CHECK(read_file(folder / "none.onnx") == model.proto().SerializeAsString());
  for (const char* name : {"", ".", "..", "a/b", "/elsewhere/x", "out.onnx"}) {
    options.file_name = name;
    CHECK(error_text([&] { PendingModel(model, folder / "out.onnx", options); }) ==
          "external_data_file: '" + std::string(name) +
              "', expected the name of a file beside the model");
  }
}

TEST_CASE("save: files of the input are never replaced", "[model]") {
  const TempDir folder;
  PendingModel(Model(model_with_tensors()), folder / "in.onnx", kAlways).commit();
  const Model model = load_model(folder / "in.onnx");
  const std::string expected = ": is a file of the input model, expected another output";
  CHECK(error_text([&] { PendingModel(model, folder / "in.onnx", {}); }) ==
        (folder / "in.onnx").string() + expected);
  CHECK(error_text([&] { PendingModel(model, folder / "in.onnx.data", {}); }) ==
        (folder / "in.onnx.data").string() + expected);
  ExternalDataOptions options = kAlways;
  options.file_name = "in.onnx.data";
  CHECK(error_text([&] { PendingModel(model, folder / "out.onnx", options); }) ==
        (folder / "in.onnx.data").string() + expected);
}

TEST_CASE("save: a model beyond 2 GB needs external data", "[model]") {
  const TempDir folder;
  // A hole: it takes no space.
  fs::resize_file(folder.write("w.bin", ""), std::uintmax_t{3} << 30);
  onnx::ModelProto proto =
      text_proto("g (uint8[N] x) => (uint8[N] y) { y = Concat<axis = 0>(x, w) }");
  auto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.add_dims(std::int64_t{3} << 30);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  const Model model = load_model(folder.write("m.onnx", proto.SerializeAsString()));
  const ExternalDataOptions never{.mode = ExternalDataOptions::Mode::Never, .file_name = {}};
  CHECK(error_text([&] { PendingModel(model, folder / "out.onnx", never); }) ==
        (folder / "out.onnx").string() +
            ": would have 3.2 GB, expected at most 2 GB in a model file\n"
            "  hint: external_data 'auto' or 'always' puts large tensors into a file beside it");
}

TEST_CASE("save: references stay references for ONNX Runtime, where it can follow them",
          "[model]") {
  const TempDir folder;
  const Model model = load_model(folder.write("m.onnx", model_with_tensors().SerializeAsString()));
  onnx::ModelProto proto;
  REQUIRE(proto.ParseFromString(serialize_with_references(model)));
  CHECK(proto.graph().initializer(0).external_data(0).value() == model.data_files()[0].location);
  CHECK(proto.graph().node(0).attribute(0).t().data_location() == onnx::TensorProto::EXTERNAL);
  CHECK(proto.graph().node(2).attribute(0).g().initializer(0).raw_data() == std::string(3000, 'i'));
}

TEST_CASE("save: memory does not grow with the model", "[model]") {
  const TempDir folder;
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  fs::resize_file(folder.write("w.bin", ""), kBytes);
  onnx::ModelProto proto =
      text_proto("g (uint8[N] x) => (uint8[N] y) { y = Concat<axis = 0>(x, w) }");
  auto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.add_dims(kBytes);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  folder.write("m.onnx", proto.SerializeAsString());
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  const long before = peak();
  for (const auto mode : {ExternalDataOptions::Mode::Never, ExternalDataOptions::Mode::Always}) {
    const Model model = load_model(folder / "m.onnx");
    PendingModel(model, folder / "out.onnx", {.mode = mode, .file_name = {}});
  }
  const Model model = load_model(folder / "m.onnx");
  CHECK(serialize_with_references(model).size() < 1000);
  CHECK(peak() - before < 80);
}

TEST_CASE("save: values that are made when they are written stand as others", "[model]") {
  const TempDir folder;
  const auto bytes_of = [](std::size_t number) {
    return std::vector<std::byte>(70'000, static_cast<std::byte>('a' + number));
  };
  onnx::ModelProto expected = model_with_tensors();
  Model model(model_with_tensors());
  for (int i = 0; i < 2; ++i) {
    const std::string name = "made" + std::to_string(i);
    *expected.mutable_graph()->add_initializer() =
        tensor_of(name, 70'000, static_cast<char>('a' + i));
    auto& tensor = *model.graph().add_initializer();
    tensor = tensor_of(name, 70'000, 'x');
    set_made(tensor, {static_cast<std::size_t>(i), 70'000});
    CHECK(made_values_of(tensor)->number == static_cast<std::size_t>(i));
  }
  CHECK_FALSE(made_values_of(expected.graph().initializer(0)));
  PendingModel(model, folder / "in.onnx", {}, bytes_of).commit();
  CHECK(read_file(folder / "in.onnx") == expected.SerializeAsString());

  PendingModel(model, folder / "out.onnx", kAlways, bytes_of).commit();
  const Model read = load_model(folder / "out.onnx");
  for (const auto& tensor : read.graph().initializer()) {
    if (tensor.name() == "made1") CHECK(text_of(read, tensor) == std::string(70'000, 'b'));
  }
}
