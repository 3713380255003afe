#include "kernels/pack_nibbles.h"

#include "kernel_cases.h"

namespace qtool::kernels {

TEST_CASE("pack_nibbles puts the first of two codes into the low nibble", "[kernels]") {
  const std::uint8_t codes[] = {1, 0xFF, 7, 0xF8, 3};
  for_each_target([&] {
    std::vector<std::uint8_t> out(3);
    pack_nibbles(codes, out);
    CHECK(out == std::vector<std::uint8_t>{0xF1, 0x87, 0x03});
  });
}

TEST_CASE("pack_nibbles takes any length and start, and writes no byte too many", "[kernels]") {
  std::vector<std::uint8_t> codes(700);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i * 37 + 11);
  for_each_target([&] {
    for (std::size_t length = 0; length < 600; ++length) {
      const auto part = std::span<const std::uint8_t>(codes).subspan(length % 5, length);
      std::vector<std::uint8_t> out((length + 1) / 2 + 1, 0xAB);
      pack_nibbles(part, std::span(out).first((length + 1) / 2));
      for (std::size_t i = 0; i < length; ++i) {
        if ((out[i / 2] >> (i % 2 * 4) & 15) != (part[i] & 15)) FAIL(i << " of " << length);
      }
      if (length % 2 == 1 && out[length / 2] > 15) FAIL("the last high nibble is not 0");
      if (out.back() != 0xAB) FAIL("wrote beyond the end");
    }
  });
}

}  // namespace qtool::kernels
