#include "model/float_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "catch.h"

using namespace qtool;

namespace {

std::uint16_t half(double value) {
  const auto bytes = encode_floats(ElementType::Float16, std::span(&value, 1));
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("float16 is rounded half to even over its whole range", "[model]") {
  CHECK(half(0.0) == 0x0000);
  CHECK(half(-0.0) == 0x8000);
  CHECK(half(1.0) == 0x3C00);
  CHECK(half(-2.5) == 0xC100);
  CHECK(half(1.0 + 1.0 / 2048) == 0x3C00);
  CHECK(half(1.0 + 3.0 / 2048) == 0x3C02);
  CHECK(half(1.0 + 1.0 / 2048 + 1e-12) == 0x3C01);
  CHECK(half(65504.0) == 0x7BFF);
  CHECK(half(65519.9) == 0x7BFF);
  CHECK(half(65520.0) == 0x7C00);
  CHECK(half(5.9604644775390625e-8) == 0x0001);
  CHECK(half(2.98023223876953125e-8) == 0x0000);
  CHECK(half(6.097555160522461e-05) == 0x03FF);
  CHECK(half(6.103e-05) == 0x0400);
  CHECK(half(std::numeric_limits<double>::infinity()) == 0x7C00);
  CHECK(half(std::numeric_limits<double>::quiet_NaN()) == 0x7E00);
}

TEST_CASE("a number is rounded to what float16 holds as its encoding is", "[model]") {
  for (int i = -3000; i <= 3000; ++i) {
    const double value = std::ldexp(1.0 + std::abs(i) * 0.000331, i % 34) * (i < 0 ? -1 : 1);
    const double rounded = round_to(ElementType::Float16, value);
    if (half(rounded) != half(value)) FAIL("value " << value);
    if (std::isinf(rounded)) continue;
    const double last_bit = std::ldexp(1.0, std::max(std::ilogb(value) - 10, -24));
    if (std::abs(rounded - value) > last_bit / 2) FAIL("rounded " << value << " to " << rounded);
    if (std::remainder(rounded, last_bit) != 0) FAIL(rounded << " is no float16");
  }
  CHECK(std::signbit(round_to(ElementType::Float16, -1e-9)));
  CHECK(round_to(ElementType::Float, 0.1) == static_cast<double>(0.1F));
  CHECK(round_to(ElementType::Double, 0.1) == 0.1);
}

TEST_CASE("only types with arithmetic are encodable", "[model]") {
  CHECK(is_encodable(ElementType::Float));
  CHECK(is_encodable(ElementType::Double));
  CHECK_FALSE(is_encodable(ElementType::Int8));
  CHECK_FALSE(is_encodable(ElementType::BFloat16));
}
