#include "samples/samples.h"

#include <filesystem>
#include <sys/stat.h>
#include <thread>

#include <onnx/onnx_pb.h>

#include "base/parallel.h"
#include "base/sha256.h"
#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "temp_dir.h"
#include "zip_writer.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const std::vector<TensorInfo> kOneInput = {input("x", ElementType::Float, {-1, 4}, {"N", ""})};
const std::vector<TensorInfo> kTwoInputs = {input("a", ElementType::Float, {-1, 4}),
                                            input("ids", ElementType::Int64, {-1})};

std::string row(float first) { return npy<float>({1, 4}, {first, 1, 2, 3}); }

std::string proto(const std::string& name, std::vector<std::int64_t> shape,
                  const std::vector<float>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : shape) tensor.add_dims(dim);
  for (const float value : values) tensor.add_float_data(value);
  return tensor.SerializeAsString();
}

std::string ids_proto(const std::vector<std::int64_t>& values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  tensor.set_raw_data(bytes_of(values));
  return tensor.SerializeAsString();
}

/// The message that reading the whole folder ends with, paths relative to it.
std::string failure(const TempDir& folder, const std::vector<TensorInfo>& inputs,
                    const SampleOptions& options = {}) {
  const std::string text = failure_of([&] {
    const auto samples = open_samples(folder.path(), inputs, options);
    for (std::size_t i = 0; i < samples->size(); ++i) samples->read(i);
  });
  return without(without(text, folder.path().string() + "/"), folder.path().string());
}

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.floats().begin(), tensor.floats().end()};
}

/// The first value of each sample's first input, in order.
std::vector<float> first_values(const SampleFolder& samples) {
  std::vector<float> out;
  for (std::size_t i = 0; i < samples.size(); ++i)
    out.push_back(samples.read(i).inputs[0].tensor.floats()[0]);
  return out;
}

std::vector<std::string> names(const SampleFolder& samples) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < samples.size(); ++i) out.push_back(samples.name(i));
  return out;
}

}  // namespace

TEST_CASE("each .npy file is a sample of a model with one input, in natural order", "[samples]") {
  const TempDir folder;
  for (const int i : {10, 2, 1, 11})
    folder.write("s_" + std::to_string(i) + ".npy", row(static_cast<float>(i)));
  folder.write("README.txt", "where these came from");
  folder.write("labels.json", "[]");
  folder.write(".hidden.npy", "junk");
  folder.write("images/1.png", "junk");
  const auto samples = open_samples(folder.path(), kOneInput, {});
  CHECK(names(*samples) == std::vector<std::string>{"s_1", "s_2", "s_10", "s_11"});
  CHECK(first_values(*samples) == std::vector<float>{1, 2, 10, 11});
  CHECK_FALSE(samples->is_cut());
  const Sample sample = samples->read(1);
  CHECK(sample.name == "s_2");
  CHECK(sample.inputs[0].name == "x");
  CHECK(sample.inputs[0].tensor.shape == std::vector<std::int64_t>{1, 4});
  CHECK(sample.expected_outputs.empty());
}

TEST_CASE("each folder with a file for each input is a sample", "[samples]") {
  const TempDir folder;
  for (const char* const name : {"r10", "r9"}) {
    folder.write(std::string(name) + "/ids.npy", npy<std::int64_t>({2}, {7, 8}));
    folder.write(std::string(name) + "/a.pb", proto("any", {1, 4}, {0, 1, 2, 3}));
    folder.write(std::string(name) + "/notes.txt", "");
  }
  folder.write("pictures/1.png", "");
  const auto samples = open_samples(folder.path(), kTwoInputs, {});
  CHECK(names(*samples) == std::vector<std::string>{"r9", "r10"});
  const Sample sample = samples->read(0);
  REQUIRE(sample.inputs.size() == 2);
  CHECK(sample.inputs[0].name == "a");
  CHECK(floats(sample.inputs[0].tensor) == std::vector<float>{0, 1, 2, 3});
  CHECK(sample.inputs[1].name == "ids");
  CHECK(sample.inputs[1].tensor.int64s()[1] == 8);
}

TEST_CASE("ONNX test data goes by position, and its outputs are expected values", "[samples]") {
  const TempDir folder;
  folder.write("test_data_set_0/input_0.pb", proto("any", {1, 4}, {5, 1, 2, 3}));
  folder.write("test_data_set_0/input_1.pb", ids_proto({4}));
  folder.write("test_data_set_0/output_1.pb", proto("", {2}, {1, 2}));
  folder.write("test_data_set_0/output_0.pb",
               proto("y", {1}, {std::numeric_limits<float>::infinity()}));
  const auto calibration = open_samples(folder.path(), kTwoInputs, {});
  CHECK(calibration->read(0).expected_outputs.empty());
  const auto samples = open_samples(folder.path(), kTwoInputs, {.read_expected_outputs = true});
  const Sample sample = samples->read(0);
  CHECK(sample.inputs[0].tensor.floats()[0] == 5);
  CHECK(sample.inputs[1].tensor.int64s()[0] == 4);
  REQUIRE(sample.expected_outputs.size() == 2);
  CHECK(sample.expected_outputs[0].name == "y");
  CHECK(floats(sample.expected_outputs[1].tensor) == std::vector<float>{1, 2});
}

TEST_CASE("each .npz archive is a sample, stored or deflated", "[samples]") {
  const TempDir folder;
  const std::string ids = npy<std::int64_t>({1}, {3});
  folder.write("s_1.npz", zip({stored("ids.npy", ids), deflated("a.npy", row(1))}));
  folder.write("s_2.npz", zip({deflated("a.npy", row(2)), stored("ids.npy", ids)}));
  const auto samples = open_samples(folder.path(), kTwoInputs, {});
  CHECK(names(*samples) == std::vector<std::string>{"s_1", "s_2"});
  CHECK(first_values(*samples) == std::vector<float>{1, 2});
  CHECK(samples->read(0).inputs[1].tensor.int64s()[0] == 3);
}

TEST_CASE("max_samples takes the first ones, and says that there were more", "[samples]") {
  const TempDir folder;
  for (const int i : {1, 2, 3})
    folder.write("s_" + std::to_string(i) + "/x.npy", row(static_cast<float>(i)));
  const auto two = open_samples(folder.path(), kOneInput, {.max_samples = 2});
  CHECK(first_values(*two) == std::vector<float>{1, 2});
  CHECK(two->is_cut());
  CHECK_FALSE(open_samples(folder.path(), kOneInput, {.max_samples = 3})->is_cut());
  const TempDir flat;
  for (const int i : {1, 2, 3})
    flat.write("s_" + std::to_string(i) + ".npy", row(static_cast<float>(i)));
  CHECK(first_values(*open_samples(flat.path(), kOneInput, {.max_samples = 1})) ==
        std::vector<float>{1});
}

TEST_CASE("links lead to samples and to sample folders", "[samples]") {
  const TempDir folder;
  folder.write("store/ab12", row(4));
  std::filesystem::create_directories(folder / "flat");
  std::filesystem::create_symlink("../store/ab12", folder / "flat/s_1.npy");
  CHECK(first_values(*open_samples(folder / "flat", kOneInput, {})) == std::vector<float>{4});
  folder.write("inside/x.npy", row(5));
  folder.write("readme", "");
  std::filesystem::create_directories(folder / "tree");
  std::filesystem::create_symlink("../inside", folder / "tree/s_1");
  std::filesystem::create_symlink("../readme", folder / "tree/README");
  CHECK(first_values(*open_samples(folder / "tree", kOneInput, {})) == std::vector<float>{5});
}

TEST_CASE("float64 is read as float32 with one warning for all samples and threads", "[samples]") {
  const TempDir folder;
  for (int i = 0; i < 20; ++i)
    folder.write("s_" + std::to_string(i) + ".npy", npy<double>({1, 4}, {1.5, 0, 0, 0}));
  std::vector<std::string> warnings;
  const auto samples =
      open_samples(folder.path(), kOneInput,
                   {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  parallel_for(20, 4, [&](std::size_t index, int) {
    if (samples->read(index).inputs[0].tensor.floats()[0] != 1.5f)
      throw std::runtime_error("wrong value");
  });
  CHECK(warnings == std::vector<std::string>{folder.path().string() +
                                             ": float64 values are converted to float32"});
}

TEST_CASE("NaN and infinities pass where they are allowed", "[samples]") {
  const TempDir folder;
  folder.write("s_1.npy", npy<float>({1, 4}, {0, NAN, -INFINITY, 0}));
  CHECK(std::isnan(open_samples(folder.path(), kOneInput, {.allow_nonfinite = true})
                       ->read(0)
                       .inputs[0]
                       .tensor.floats()[1]));
  CHECK(failure(folder, kOneInput) ==
        "exit 3: s_1.npy: value 1 of input 'x' is nan, expected finite values | --allow-nonfinite "
        "takes samples as they are");
}

TEST_CASE("the digest is that of what sha256sum prints, read or not", "[samples]") {
  const TempDir folder;
  folder.write("in/s_2/x.npy", row(2));
  folder.write("in/s_10/x.npy", row(10));
  const auto line = [](const std::string& content, const std::string& name) {
    Sha256 hash;
    hash.update(content);
    return hash.hex_digest() + "  " + name + "\n";
  };
  Sha256 expected;
  expected.update(line(row(2), "s_2/x.npy") + line(row(10), "s_10/x.npy"));
  const std::string digest = expected.hex_digest();
  const auto unread = open_samples(folder / "in", kOneInput, {});
  CHECK(unread->sha256() == digest);
  std::filesystem::rename(folder / "in", folder / "out");
  const auto read = open_samples(folder / "out", kOneInput, {});
  read->read(1);
  read->read(1);
  read->read(0);
  CHECK(read->sha256() == digest);
  CHECK(read->sha256() == digest);
  folder.write("out/s_2/x.npy", row(3));
  CHECK(open_samples(folder / "out", kOneInput, {})->sha256() != digest);
}

TEST_CASE("the digest of files that were read needs them no more", "[samples]") {
  const TempDir folder;

  folder.write("s_1/x.npy", npy<float>({1 << 18, 4}, std::vector<float>(1 << 20, 0.5f)));
  folder.write("s_2/x.pb", proto("", {1, 4}, {1, 2, 3, 4}));
  const std::string digest = open_samples(folder.path(), kOneInput, {})->sha256();
  const auto samples = open_samples(folder.path(), kOneInput, {});
  for (const std::size_t i : {0, 1}) samples->read(i);
  std::filesystem::remove_all(folder / "s_1");
  std::filesystem::remove_all(folder / "s_2");
  CHECK(samples->sha256() == digest);
}

TEST_CASE("a file that cannot be opened is named", "[samples]") {
  if (::geteuid() == 0) return;  // root reads everything
  const TempDir folder;
  folder.write("s_1.npy", row(1));
  std::filesystem::permissions(folder / "s_1.npy", std::filesystem::perms::none);
  CHECK(failure(folder, kOneInput) == "exit 5: s_1.npy: cannot be read: Permission denied");
}

TEST_CASE("inputs of unknown type or shape take what there is", "[samples]") {
  const TempDir folder;
  folder.write("s_1.npy", npy<std::int16_t>({3}, {1, 2, 3}));
  const TensorInfo anything{"x", ElementType::Undefined, {}, {}, false};
  CHECK(open_samples(folder.path(), std::vector{anything}, {})->read(0).inputs[0].tensor.type ==
        ElementType::Int16);
  const TensorInfo any_shape{"x", ElementType::Float, {}, {}, false};
  const Tensor tensor =
      open_samples(folder.path(), std::vector{any_shape}, {})->read(0).inputs[0].tensor;
  CHECK(floats(tensor) == std::vector<float>{1, 2, 3});
  CHECK(tensor.shape == std::vector<std::int64_t>{3});
}
