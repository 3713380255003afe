#include "kernels/quantize_float8.h"

#include <algorithm>
#include <cmath>

#include "kernel_cases.h"
#include "kernels/float16.h"

namespace qtool::kernels {
namespace {

/// Value of a code below 0x7F.
double float8_value(unsigned code) {
  const unsigned mantissa = code & 7U, exponent = code >> 3U;
  return exponent == 0 ? std::ldexp(mantissa, -9)
                       : std::ldexp(mantissa | 8U, static_cast<int>(exponent) - 10);
}

/// The nearest of all codes; of two, the even one.
unsigned nearest_code(double size) {
  unsigned best = 0;
  for (unsigned code = 1; code < 0x7F; ++code) {
    const double better = std::abs(float8_value(best) - size) - std::abs(float8_value(code) - size);
    if (better > 0 || (better == 0 && code % 2 == 0)) best = code;
  }
  return best;
}

unsigned definition(float value, float scale, Quotient quotient) {
  double steps = static_cast<double>(value / scale);
  if (std::isnan(steps)) return 0;
  if (quotient == Quotient::Float16) steps = round_to_float16(steps);
  return (std::signbit(steps) ? 0x80U : 0U) | nearest_code(std::min(std::abs(steps), 448.0));
}

void check(std::span<const float> values, float scale, Quotient quotient) {
  std::vector<std::uint8_t> out(values.size() + 1, 77);
  quantize_float8(values, scale, quotient, std::span(out).first(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (out[i] != definition(values[i], scale, quotient))
      FAIL("value " << values[i] << " by " << scale << ": " << int{out[i]});
  }
  if (out.back() != 77) FAIL("wrote beyond the end");
}

}  // namespace

TEST_CASE("quantize_float8 gives every code its value, and halves the even one", "[kernels]") {
  std::vector<float> values;
  for (unsigned code = 0; code < 0x7F; ++code) {
    const auto here = static_cast<float>(float8_value(code));
    const auto middle = static_cast<float>((float8_value(code) + float8_value(code + 1)) / 2);
    for (const float value : {here, middle, std::nextafter(middle, 0.0F), middle * 1.0001F}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  for_each_target([&] {
    check(values, 1.0F, Quotient::Float32);
    check(values, 1.0F, Quotient::Float16);
  });
}

TEST_CASE("quantize_float8 equals its definition on every target", "[kernels]") {
  std::vector<float> values = test_values(301, Values::WithSpecial);
  for_each_target([&] {
    for (const std::size_t length : {0, 1, 3, 4, 5, 16, 17, 31, 33, 130, 298}) {
      for (const float scale : {0.1F, 3.7F, 1e-3F, 30000.0F}) {
        const auto part = std::span<const float>(values).subspan(length % 4, length);
        check(part, scale, Quotient::Float32);
        check(part, scale, Quotient::Float16);
      }
    }
  });
}

TEST_CASE("quantize_float8 saturates, and has no code for NaN", "[kernels]") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float values[] = {kInf, -kInf, 449, std::numeric_limits<float>::quiet_NaN(), -0.0F};
  std::vector<std::uint8_t> out(5);
  for_each_target([&] {
    quantize_float8(values, 1.0F, Quotient::Float32, out);
    CHECK(out == std::vector<std::uint8_t>{0x7E, 0xFE, 0x7E, 0, 0x80});
  });
}

TEST_CASE("quantize_float8_per_channel gives each channel its own scale", "[kernels]") {
  const float values[] = {1, 2, 3, 4, 1, 2, 3, 4};
  const float scales[] = {1, 2};
  std::vector<std::uint8_t> out(8);
  quantize_float8_per_channel(values, {2, 2, 2}, scales, Quotient::Float32, out);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(out[i] == definition(values[i], scales[i / 2 % 2], Quotient::Float32));
}

}  // namespace qtool::kernels
