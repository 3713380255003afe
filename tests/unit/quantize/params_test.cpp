#include "quantize/params.h"

#include <cmath>
#include <limits>

#include "catch.h"

using namespace qtool;

namespace {

QuantScheme scheme(ElementType type, bool is_symmetric = false, bool is_reduced = false) {
  return {.type = type,
          .is_symmetric = is_symmetric,
          .is_reduced = is_reduced,
          .minimum_real_range = {}};
}

}  // namespace

// Scales and zero points of ONNX Runtime 1.32 for the range [-1, 2].
TEST_CASE("scale and zero point equal ONNX Runtime's", "[quantize]") {
  const Range range{-1, 2};
  struct Row {
    QuantScheme scheme;
    double scale;
    std::int32_t zero_point;
  };
  const Row rows[] = {
      {scheme(ElementType::Int8), 0.0117647061124444, -43},
      {scheme(ElementType::UInt8), 0.0117647061124444, 85},
      {scheme(ElementType::Int8, true), 0.015748031437397003, 0},
      {scheme(ElementType::UInt8, true), 0.01568627543747425, 128},
  };
  for (const Row& row : rows) {
    const ScaleAndZero got = scale_and_zero(range, row.scheme);
    CHECK(got.scale == static_cast<float>(row.scale));
    CHECK(got.zero_point == row.zero_point);
  }
}

TEST_CASE("a range is widened to hold zero", "[quantize]") {
  const ScaleAndZero positive = scale_and_zero({1, 3}, scheme(ElementType::UInt8));
  CHECK(positive.scale == static_cast<float>(3.0 / 255));
  CHECK(positive.zero_point == 0);
  const ScaleAndZero negative = scale_and_zero({-3, -1}, scheme(ElementType::UInt8));
  CHECK(negative.zero_point == 255);
}

TEST_CASE("a range of nothing but zero gets scale 1", "[quantize]") {
  const ScaleAndZero got = scale_and_zero({0, 0}, scheme(ElementType::UInt8));
  CHECK(got.scale == 1.0F);
  CHECK(got.zero_point == 0);
}

TEST_CASE("the widest float range keeps a finite scale", "[quantize]") {
  constexpr float kMax = std::numeric_limits<float>::max();
  const ScaleAndZero got = scale_and_zero({-kMax, kMax}, scheme(ElementType::UInt8));
  CHECK(std::isfinite(got.scale));
  CHECK(got.zero_point == 128);
}

TEST_CASE("the minimum real range widens the upper end before the range is made symmetric",
          "[quantize]") {
  QuantScheme with_minimum = scheme(ElementType::Int8, true);
  with_minimum.minimum_real_range = 1e-4;
  CHECK(scale_and_zero({0, 0}, with_minimum).scale ==
        static_cast<float>(2.0 * static_cast<float>(1e-4) / 254));
}

TEST_CASE("reduced ranges spread over 7 bits and keep zero in the middle", "[quantize]") {
  const IntegerRange int8 = spread_range(scheme(ElementType::Int8, true, true));
  CHECK(int8.min == -64);
  CHECK(int8.max == 64);
  const IntegerRange uint8 = spread_range(scheme(ElementType::UInt8, false, true));
  CHECK(uint8.min == 0);
  CHECK(uint8.max == 127);
  CHECK(scale_and_zero({-1, 2}, scheme(ElementType::UInt8, true, true)).zero_point == 64);
}

TEST_CASE("values round half to even and saturate at the full range of the type", "[quantize]") {
  const ScaleAndZero unit{1.0F, 0};
  CHECK(quantize_value(0.5F, unit, ElementType::Int8) == 0);
  CHECK(quantize_value(1.5F, unit, ElementType::Int8) == 2);
  CHECK(quantize_value(-2.5F, unit, ElementType::Int8) == -2);
  CHECK(quantize_value(-500.0F, unit, ElementType::Int8) == -128);
  CHECK(quantize_value(500.0F, unit, ElementType::UInt8) == 255);
  CHECK(quantize_value(std::numeric_limits<float>::infinity(), unit, ElementType::UInt8) == 255);
}
