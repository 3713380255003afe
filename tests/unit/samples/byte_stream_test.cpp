#include "samples/byte_stream.h"

#include "catch.h"
#include "samples.h"
#include "string_stream.h"
#include "temp_dir.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string read(ByteStream& stream, std::size_t count) {
  std::string out(count, '\0');
  stream.read(std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace

TEST_CASE("a stream gives its bytes in order, in pieces of any size", "[samples]") {
  std::string content;
  for (int i = 0; i < 200'000; ++i) content += static_cast<char>(i * 7 + i / 256);
  StringStream stream(content);
  std::string read_back;
  for (std::size_t size = 1; read_back.size() < content.size(); size = size * 3 + 1) {
    read_back += read(stream, std::min(size, content.size() - read_back.size()));
    CHECK(stream.remaining() == content.size() - read_back.size());
  }
  CHECK(read_back == content);
}

TEST_CASE("a stream that ends before what was asked for is refused", "[samples]") {
  const std::size_t asked = GENERATE(std::size_t{11}, std::size_t{100'000});
  StringStream stream("0123456789", 200'000);
  CHECK(failure_of([&] { read(stream, asked); }) == "exit 3: f: ends early");
}

TEST_CASE("a file is digested while it is read", "[samples]") {
  const std::size_t size =
      GENERATE(std::size_t{0}, std::size_t{5}, std::size_t{16'384}, std::size_t{700'001});
  const TempDir folder;
  const std::string content(size, 'x');
  const auto path = folder.write("f", content);
  Sha256 expected, read_hash, whole_hash;
  expected.update(content);
  const std::string digest = expected.hex_digest();
  FileStream stream(path.string(), &read_hash);
  CHECK(stream.remaining() == size);
  CHECK(read(stream, std::min<std::size_t>(size, 3)) +
            read(stream, size - std::min<std::size_t>(size, 3)) ==
        content);
  CHECK(read_hash.hex_digest() == digest);
  digest_file(path.string(), whole_hash);
  CHECK(whole_hash.hex_digest() == digest);
}
