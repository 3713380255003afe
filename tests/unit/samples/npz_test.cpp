#include "samples/npz.h"

#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "temp_dir.h"
#include "zip_writer.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const TensorInfo kInput = input("x", ElementType::Float, {-1, 4}, {"N", ""});
const std::string kRow = npy<float>({1, 4}, {1, 2, 3, 4});

Tensor read(const TempDir& folder, const std::string& content, const TensorInfo& info = kInput) {
  const NpzArchive archive(folder.write("s.npz", content).string(), nullptr);
  return archive.read(0, info);
}

std::string refusal(const std::string& content, const TensorInfo& info = kInput) {
  const TempDir folder;
  return without(failure_of([&] { read(folder, content, info); }), folder.path().string() + "/");
}

/// An array of zeros whose bytes are there only as repetitions; 258 bytes for each of `repeats`.
std::string bomb(std::uint32_t repeats, std::int64_t rows) {
  std::string head = npy_of({.shape = npy_shape(std::vector<std::int64_t>{rows, 4})}, "");
  const std::size_t size = head.size() + 1 + std::size_t{258} * repeats;
  DeflateWriter writer;
  for (const char c : head) writer.literal(static_cast<unsigned char>(c));
  writer.literal(0);
  for (std::uint32_t i = 0; i < repeats; ++i) writer.repeat258();
  return zip({{"x.npy", writer.finish(), 8, static_cast<std::uint32_t>(size), 0}});
}

}  // namespace

TEST_CASE("npz: entries are read, stored and deflated", "[samples]") {
  const TempDir folder;
  const NpzArchive archive(
      folder.write("s.npz", zip({stored("a.npy", kRow), deflated("b/c.npy", kRow)})).string(),
      nullptr);
  CHECK(archive.keys() == std::vector<std::string>{"a", "b/c"});
  for (const std::size_t entry : {0, 1})
    CHECK(to_float32(archive.read(entry, kInput)) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("npz: a file that is no archive is refused", "[samples]") {
  const std::string content = GENERATE(std::string(), std::string("PK"), std::string(500, 'x'),
                                       zip({stored("x.npy", kRow)}).substr(30),
                                       zip({stored("x.npy", kRow)}).substr(0, 150));
  CHECK(refusal(content).starts_with("exit 3: s.npz: is not a sound .npz archive: "));
}

TEST_CASE("npz: changed bytes are found by the checksum", "[samples]") {
  std::string content = zip({stored("x.npy", kRow)});
  content[content.find(kRow) + kRow.size() - 1] ^= 1;
  CHECK(refusal(content) == "exit 3: s.npz: entry 'x': cannot be unpacked: crc error");
  content = zip({deflated("x.npy", kRow)});
  content[60] ^= 0x5a;
  CHECK(refusal(content).starts_with("exit 3: s.npz: "));
}

TEST_CASE("npz: the size of an entry must be that of its array", "[samples]") {
  ZipEntry entry = deflated("x.npy", kRow);
  entry.size += 4;
  CHECK(refusal(zip({entry})) ==
        "exit 3: s.npz: entry 'x': holds 20 bytes of values, expected 16 for shape 1x4 of dtype "
        "'<f4'");
  entry = deflated("x.npy", kRow + "more");
  entry.size -= 4;
  CHECK(refusal(zip({entry})).starts_with("exit 3: s.npz: entry 'x': "));
  entry = deflated("x.npy", kRow.substr(0, kRow.size() - 4));
  entry.size += 4;
  CHECK(refusal(zip({entry})).starts_with("exit 3: s.npz: entry 'x': "));
}

TEST_CASE("npz: an entry that unpacks to far more than it holds takes no memory", "[samples]") {
  CHECK(refusal(bomb(3'000'000, 48'375'000))
            .starts_with("exit 3: s.npz: entry 'x': unpacks to 774.0 MB from 4.9 MB"));
  ZipEntry liar = deflated("x.npy", npy_of({.shape = "(250000000, 4)"}, ""));
  liar.size = 4'000'000'067;
  CHECK(refusal(zip({liar})) ==
        "exit 3: s.npz: entry 'x': unpacks to 4.0 GB from 70 B, which no sample does");
  liar = stored("x.npy", npy_of({.shape = "(250000000, 4)"}, ""));
  liar.size = 4'000'000'067;
  CHECK(refusal(zip({liar})).starts_with("exit 3: s.npz: entry 'x': unpacks to 4.0 GB from 67 B"));
}

TEST_CASE("npz: runs of zeros of a usual size are no attack", "[samples]") {
  const TempDir folder;
  // The checksum of zeros behind this header is not computed here: the message shows that all
  // values were read.
  CHECK(refusal(bomb(128, 2064)).starts_with("exit 3: s.npz: entry 'x': "));
}

TEST_CASE("npz: what is not an .npy entry, or packed in another way, is refused", "[samples]") {
  CHECK(refusal(zip({stored("x.txt", "hello")})) ==
        "exit 3: s.npz: entry 'x.txt' is not an .npy file");
  ZipEntry entry = stored("x.npy", kRow);
  entry.method = 12;
  CHECK(refusal(zip({entry})) ==
        "exit 3: s.npz: entry 'x': is packed by method 12, expected stored or deflated");
  CHECK(refusal(zip({stored("x.npy", "junk")})) ==
        "exit 3: s.npz: entry 'x': is not an .npy file: has 4 bytes");
  CHECK(refusal(zip({stored("x.npy", npy<float>({1, 5}, {1, 2, 3, 4, 5}))})) ==
        "exit 3: s.npz: entry 'x': input 'x': found float32 of shape 1x5, expected float32[N,4]");
}

TEST_CASE("npz: each input has one entry", "[samples]") {
  const std::vector<TensorInfo> inputs = {input("a", ElementType::Float, {1}),
                                          input("b/c", ElementType::Float, {1})};
  const auto entries = [&](const std::vector<std::string>& keys) {
    return find_entries(keys, inputs, "s.npz");
  };
  CHECK(entries({"b/c", "a"}) == std::vector<std::size_t>{1, 0});
  CHECK(entries({"a", "b_c"}) == std::vector<std::size_t>{0, 1});
  CHECK(failure_of([&] { entries({"a"}); }) == "exit 3: s.npz: no entry for input 'b/c'");
  CHECK(failure_of([&] {
          entries({"a", "b/c", "stranger"});
        }) == "exit 3: s.npz: the model has no input 'stranger', expected a, b/c");
  CHECK(failure_of([&] {
          entries({"b/c", "b_c"});
        }) == "exit 3: s.npz: input 'b/c' has two entries, 'b/c' and 'b_c', expected one");
}

TEST_CASE("npz: an archive without entries is read as such", "[samples]") {
  const TempDir folder;
  CHECK(NpzArchive(folder.write("s.npz", zip({})).string(), nullptr).keys().empty());
}
