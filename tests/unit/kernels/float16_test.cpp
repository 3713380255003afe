#include "kernels/float16.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

std::uint32_t definition(std::uint16_t code) {
  const std::uint32_t sign = (code & 0x8000U) << 16U;
  const std::uint32_t mantissa = code & 0x3FFU;
  const int exponent = code >> 10 & 31;
  if (exponent == 31) return sign | 0x7F800000U | mantissa << 13U;
  const float size = exponent == 0
                         ? std::ldexp(static_cast<float>(mantissa), -24)
                         : std::ldexp(static_cast<float>(mantissa | 0x400U), exponent - 25);
  return sign | std::bit_cast<std::uint32_t>(size);
}

}  // namespace

TEST_CASE("widen_float16 equals its definition for every code on every target", "[kernels]") {
  std::vector<std::uint16_t> codes(65536);
  std::iota(codes.begin(), codes.end(), std::uint16_t{0});
  for_each_target([&] {
    std::vector<float> out(codes.size());
    widen_float16(codes, out);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (std::bit_cast<std::uint32_t>(out[i]) != definition(codes[i])) FAIL("code " << i);
    }
  });
}

TEST_CASE("widen_float16 takes any length and start", "[kernels]") {
  std::vector<std::uint16_t> codes(300);
  std::iota(codes.begin(), codes.end(), std::uint16_t{0x3BF0});
  for_each_target([&] {
    for (std::size_t length = 0; length < 140; ++length) {
      for (std::size_t start = 0; start < 4; ++start) {
        std::vector<float> out(length + 1, 77.0F);
        widen_float16(std::span(codes).subspan(start, length), std::span(out).first(length));
        for (std::size_t i = 0; i < length; ++i) {
          if (std::bit_cast<std::uint32_t>(out[i]) != definition(codes[start + i]))
            FAIL("element " << i << " of " << length);
        }
        if (out.back() != 77.0F) FAIL("wrote beyond the end");
      }
    }
  });
}

}  // namespace qtool::kernels
