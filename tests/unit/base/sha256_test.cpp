#include "base/sha256.h"

#include "catch.h"
#include "temp_dir.h"

using namespace qtool;
using qtool::testing::TempDir;

namespace {

std::string digest(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex_digest();
}

}  // namespace

TEST_CASE("SHA-256 gives the digests of FIPS 180-4", "[base]") {
  CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on the pieces", "[base]") {
  Sha256 hash;
  for (const char* const piece : {"a", "", "b", "c"}) hash.update(std::string_view(piece));
  CHECK(to_hex(hash.digest()) == digest("abc"));
}

TEST_CASE("the digest of a file is that of its content", "[base]") {
  const TempDir folder;
  CHECK(sha256_of_file(folder.write("f", "abc")) == digest("abc"));
  CHECK(sha256_of_file(folder.write("empty", "")) == digest(""));
}
