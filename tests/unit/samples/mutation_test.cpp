#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "samples/npy.h"
#include "samples/npz.h"
#include "samples/samples.h"
#include "samples/tensor_proto.h"
#include "string_stream.h"
#include "temp_dir.h"
#include "zip_writer.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr int kRounds = 4000;

/// `content` with a few random changes: bytes set, bits turned, pieces cut out, doubled or put in.
std::string mutated(std::string content, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (std::size_t change = below(4) + 1; change > 0 && !content.empty(); --change) {
    const std::size_t at = below(content.size());
    const std::size_t count = std::min(content.size() - at, below(12) + 1);
    switch (below(6)) {
      case 0:
        content[at] = static_cast<char>(below(256));
        break;
      case 1:
        content[at] = static_cast<char>(content[at] ^ (1 << below(8)));
        break;
      case 2:
        content.erase(at, count);
        break;
      case 3:
        content.insert(at, content.substr(at, count));
        break;
      case 4:
        content.insert(at, std::string(count, static_cast<char>(below(2) * 255)));
        break;
      default:
        content.resize(at);
    }
  }
  return content;
}

/// Writes without waiting for the disk, as a file system does for one that is replaced.
std::filesystem::path write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

/// Runs `read` on changed contents: a value or an Error that is the input's fault, and values as
/// large as they say.
void survive(const std::string& content, const std::function<Tensor(const std::string&)>& read) {
  std::mt19937 random(20240607);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    try {
      const Tensor tensor = read(mutated(content, random));
      REQUIRE(tensor.bytes.size() == packed_bytes(tensor.type, tensor.element_count()));
    } catch (const Error& error) {
      REQUIRE(error.kind() == ErrorKind::Input);
      ++refused;
    }
  }
  CHECK(refused > kRounds / 10);
  CHECK(refused < kRounds);
}

}  // namespace

TEST_CASE("changed .npy files are read or refused", "[samples]") {
  const std::string order = GENERATE("False", "True");
  survive(npy_of({.descr = "'>f8'", .fortran_order = order, .shape = "(3, 2)"},
                 std::string(48, '\x01')),
          [](const std::string& content) {
            StringStream stream(content);
            return read_npy(stream, {});
          });
}

TEST_CASE("changed .pb files are read or refused", "[samples]") {
  onnx::TensorProto tensor;
  tensor.set_name("x");
  tensor.set_data_type(
      GENERATE(onnx::TensorProto::FLOAT, onnx::TensorProto::INT4, onnx::TensorProto::FLOAT16));
  tensor.add_dims(2);
  tensor.add_dims(3);
  const bool is_raw = GENERATE(true, false);
  const std::size_t bytes = packed_bytes(static_cast<ElementType>(tensor.data_type()), 6);
  if (is_raw) {
    tensor.set_raw_data(std::string(bytes, '\x01'));
  } else {
    for (int i = 0; i < (tensor.data_type() == onnx::TensorProto::INT4 ? 3 : 6); ++i) {
      if (tensor.data_type() == onnx::TensorProto::FLOAT) {
        tensor.add_float_data(1);
      } else {
        tensor.add_int32_data(1);
      }
    }
  }
  survive(tensor.SerializeAsString(), [](const std::string& content) {
    StringStream stream(content);
    Tensor out = read_tensor_proto(stream, {}).tensor;
    return out.type == ElementType::String ? Tensor{ElementType::UInt8, {0}, {}} : out;
  });
}

TEST_CASE("changed .npz archives are read or refused", "[samples]") {
  const TempDir folder;
  const std::string array = npy<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const bool is_deflated = GENERATE(true, false);
  survive(zip({is_deflated ? deflated("x.npy", array) : stored("x.npy", array),
               stored("y.npy", array)}),
          [&](const std::string& content) {
            const NpzArchive archive(write(folder / "s.npz", content).string(), nullptr);
            Tensor out{ElementType::UInt8, {0}, {}};
            for (std::size_t i = 0; i < archive.keys().size(); ++i) out = archive.read(i, {});
            return out;
          });
}

TEST_CASE("changed labels are read or refused", "[samples]") {
  const TempDir folder;
  folder.write("calib/s_1.npy", "");
  folder.write("calib/s_2.npy", "");
  const std::vector<TensorInfo> inputs = {input("x", ElementType::Float, {1})};
  const auto samples = open_samples(folder / "calib", inputs, {});
  const auto [name, text] =
      GENERATE(table<std::string, std::string>({{"l.json", R"({"s_1": 10, "s_2.npy": 20})"},
                                                {"l.json", "[10, 20]"},
                                                {"l.csv", "s_1,10\ns_2.npy,20\n"}}));
  survive(text, [&, label_file = name](const std::string& content) {
    const auto labels = read_labels(write(folder / label_file, content), *samples);
    REQUIRE(labels.size() == 2);
    return Tensor{ElementType::UInt8, {0}, {}};
  });
}
