#include "samples/digests.h"

#include "base/parallel.h"
#include "catch.h"

using namespace qtool;

TEST_CASE("digests are kept under their numbers, whichever thread brings them", "[samples]") {
  Digests digests(100);
  digests.set(7, {std::byte{7}});
  CHECK_FALSE(digests.find(8));
  parallel_for(100, 4, [&](std::size_t i, int) { digests.set(i, {static_cast<std::byte>(i)}); });
  for (std::size_t i = 0; i < digests.size(); ++i) {
    CHECK(digests.find(i) == Digests::Digest{static_cast<std::byte>(i)});
  }
}

TEST_CASE("a checksum line is that of sha256sum", "[samples]") {
  const std::string zeros(64, '0');
  CHECK(checksum_line({}, "s 1/x.npy") == zeros + "  s 1/x.npy\n");
  CHECK(checksum_line({}, "a\\b\nc\rd") == "\\" + zeros + "  a\\\\b\\nc\\rd\n");
}
