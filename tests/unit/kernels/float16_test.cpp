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

namespace {

/// The nearest code, found by trying all: among two as near, the even one.
std::vector<float> test_values() {
  std::vector<float> values{0.0F,       -0.0F,    65504.0F,    65519.99F, 65520.0F,
                            1e10F,      -1e38F,   1e-45F,      0x1p-25F,  0x1.000002p-25F,
                            0x1.8p-24F, 0x1p-14F, 0x1.ffdp-15F};
  for (const std::uint32_t bits : {0x7F800000U, 0xFF800000U, 0x7FC00001U, 0xFFC00000U, 0x7F800001U})
    values.push_back(std::bit_cast<float>(bits));
  for (std::uint32_t bits = 0; bits < 0x7F800000U; bits += 0x1A3F5)
    values.push_back(std::bit_cast<float>(bits | (bits & 1U) << 31U));
  // Halfway between two codes, and one step beside.
  for (std::uint32_t code = 0; code < 0x7BFFU; code += 7) {
    const float middle = (std::bit_cast<float>(definition(static_cast<std::uint16_t>(code))) +
                          std::bit_cast<float>(definition(static_cast<std::uint16_t>(code + 1)))) /
                         2;
    for (const float value : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)})
      values.push_back(value);
  }
  return values;
}

std::uint16_t float16_of(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  if (std::isnan(value)) return sign | 0x7E00U;
  const double rounded = round_to_float16(std::fabs(static_cast<double>(value)));
  if (std::isinf(rounded)) return sign | 0x7C00U;
  int exponent = 0;
  const double fraction = std::frexp(rounded, &exponent);
  if (rounded < 0x1p-14) return sign | static_cast<std::uint16_t>(rounded * 0x1p24);
  return static_cast<std::uint16_t>(
      sign | static_cast<unsigned>((exponent + 14) * 1024 + (fraction * 2 - 1) * 1024));
}

std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | 0x7FC0U);
  const std::uint32_t rest = bits & 0xFFFFU, kept = bits >> 16U;
  return static_cast<std::uint16_t>(kept + (rest > 0x8000U || (rest == 0x8000U && kept % 2 == 1)));
}

using Narrow = void (*)(std::span<const float>, std::span<std::uint16_t>);

void check_narrowing(Narrow narrow, std::uint16_t (*expected)(float)) {
  const std::vector<float> values = test_values();
  for_each_target([&] {
    std::vector<std::uint16_t> out(values.size());
    narrow(values, out);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (out[i] != expected(values[i])) FAIL("value " << values[i]);
    for (std::size_t length = 0; length < 70; ++length) {
      std::vector<std::uint16_t> piece(length + 1, 77);
      narrow(std::span(values).subspan(length % 5, length), std::span(piece).first(length));
      for (std::size_t i = 0; i < length; ++i)
        if (piece[i] != expected(values[length % 5 + i])) FAIL("element " << i << " of " << length);
      if (piece.back() != 77) FAIL("wrote beyond the end");
    }
  });
}

}  // namespace

TEST_CASE("narrow_to_float16 equals its definition on every target", "[kernels]") {
  check_narrowing(narrow_to_float16, float16_of);
}

TEST_CASE("narrow_to_bfloat16 equals its definition on every target", "[kernels]") {
  check_narrowing(narrow_to_bfloat16, bfloat16_of);
}

}  // namespace qtool::kernels
