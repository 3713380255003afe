#include "model/external_data.h"

#include <filesystem>
#include <optional>
#include <string>

#include "catch.h"
#include "error_text.h"
#include "temp_dir.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::TempDir;

namespace fs = std::filesystem;

namespace {

onnx::TensorProto external(std::optional<std::string> location, std::string offset = "",
                           std::string length = "") {
  onnx::TensorProto tensor;
  tensor.set_name("w");
  const auto add = [&](const char* key, const std::string& value) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  if (location) add("location", *location);
  if (!offset.empty()) add("offset", offset);
  if (!length.empty()) add("length", length);
  return tensor;
}

/// A model's folder `in` with a file of 100 bytes beside the model, and one outside of it.
struct Folder {
  TempDir root;
  fs::path model = root.write("in/m.onnx", "model");
  fs::path data = root.write("in/w.bin", std::string(100, 'w'));
  fs::path outside = root.write("outside.bin", std::string(100, 'o'));

  /// What is said of a tensor of 40 bytes, without the folder's name.
  std::string refusal(const onnx::TensorProto& tensor) const {
    DataFiles files(model, MappedFile(model));
    std::string text = error_text([&] { files.resolve(tensor, {}, 40); });
    const std::string where = model.string() + ": tensor 'w': ";
    return text.starts_with(where) ? text.substr(where.size()) : text;
  }
};

}  // namespace

TEST_CASE("external data: is found beside the model and mapped once", "[model]") {
  const Folder folder;
  fs::create_directories(folder.root / "in/sub");
  DataFiles files(folder.model, MappedFile(folder.model));
  const Reference first = files.resolve(external("w.bin", "8", "40"), {}, 40);
  CHECK(first.file == 1);
  CHECK(first.offset == 8);
  CHECK(first.length == 40);
  CHECK(files.resolve(external("sub/../w.bin"), {}, 100).file == 1);
  const auto taken = files.take();
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].file->bytes().size() == 5);
  CHECK(taken[1].file->bytes().size() == 100);
}

TEST_CASE("external data: nothing outside the model's folder is read", "[model]") {
  const Folder folder;
  const std::string hint =
      "\n  hint: qtool reads external data only from the folder of the model and those inside it";
  CHECK(folder.refusal(external(folder.outside.string())) ==
        "external data '" + folder.outside.string() +
            "': expected the path of a file relative to the model's folder");
  CHECK(folder.refusal(external("../outside.bin")) ==
        "external data '../outside.bin': lies outside the model's folder" + hint);
  fs::create_symlink("../outside.bin", folder.root / "in/link.bin");
  CHECK(folder.refusal(external("link.bin")) ==
        "external data 'link.bin': lies outside the model's folder" + hint);
  fs::create_symlink("..", folder.root / "in/up");
  CHECK(folder.refusal(external("up/outside.bin")) ==
        "external data 'up/outside.bin': lies outside the model's folder" + hint);
  fs::create_directories(folder.root / "in2");
  folder.root.write("in2/w.bin", std::string(100, 'w'));
  CHECK(folder.refusal(external("../in2/w.bin")) ==
        "external data '../in2/w.bin': lies outside the model's folder" + hint);
}

TEST_CASE("external data: a model that is a link has its data beside the link or beside itself",
          "[model]") {
  const Folder folder;
  fs::create_directories(folder.root / "snapshot");
  const fs::path link = folder.root / "snapshot/m.onnx";
  fs::create_symlink("../in/m.onnx", link);
  fs::create_symlink("../in/w.bin", folder.root / "snapshot/data.bin");
  folder.root.write("snapshot/own.bin", std::string(100, 's'));
  DataFiles files(link, MappedFile(link));
  CHECK(files.resolve(external("w.bin"), {}, 40).file == 1);
  CHECK(files.resolve(external("data.bin"), {}, 40).file == 1);
  CHECK(files.resolve(external("own.bin"), {}, 40).file == 2);
  CHECK(error_text([&] { files.resolve(external("../outside.bin"), {}, 40); }) != "");
}

TEST_CASE("external data: bytes that are not there are refused", "[model]") {
  const Folder folder;
  CHECK(folder.refusal(external("lost.bin")) ==
        "external data 'lost.bin': no such file in the model's folder");
  CHECK(folder.refusal(external("w.bin", "61")) ==
        "external data 'w.bin' has 100 bytes, expected 40 from byte 61 on");
  CHECK(folder.refusal(external("w.bin", "18446744073709551615")) ==
        "external data 'w.bin' has 100 bytes, expected 40 from byte 18446744073709551615 on");
  CHECK(folder.refusal(external("w.bin", "0", "41")) ==
        "has 41 bytes of values, expected 40 by its shape and type");
  CHECK(folder.refusal(external("m.onnx")) ==
        "external data 'm.onnx' has 5 bytes, expected 40 from byte 0 on");
}

TEST_CASE("external data: numbers are digits and nothing else", "[model]") {
  const Folder folder;
  for (const char* text : {"12abc", "-1", "+1", " 1", "0x10", "1e3", "18446744073709551616"}) {
    CHECK(folder.refusal(external("w.bin", text)) ==
          std::string("external data has offset '") + text + "', expected a number of bytes");
  }
  CHECK(folder.refusal(external("w.bin", "0", "many")) ==
        "external data has length 'many', expected a number of bytes");
}

TEST_CASE("external data: a location is the name of a file", "[model]") {
  const Folder folder;
  CHECK(folder.refusal(external(std::nullopt)) == "external data has no location");
  CHECK(folder.refusal(external("")) ==
        "external data '': expected the path of a file relative to the model's folder");
  CHECK(folder.refusal(external(std::string("w.bin\0x", 7))) ==
        "external data 'w.bin\\x00x': expected the path of a file relative to the model's folder");
  fs::create_directories(folder.root / "in/sub");
  CHECK(folder.refusal(external("sub")) ==
        "external data: " + fs::canonical(folder.root / "in/sub").string() +
            ": cannot be read: is a folder, expected a file");
}
