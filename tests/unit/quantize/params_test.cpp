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

TEST_CASE("4 bits spread as ONNX Runtime spreads them, and narrowly where asked", "[quantize]") {
  const ScaleAndZero asymmetric = scale_and_zero({-1, 2}, scheme(ElementType::Int4));
  CHECK(asymmetric.scale == 0.2F);
  CHECK(asymmetric.zero_point == -3);
  // 2 is 7.5 steps of the symmetric scale, and there is no level 8.
  const ScaleAndZero wide = scale_and_zero({-1, 2}, scheme(ElementType::Int4, true));
  CHECK(wide.scale == 0.2666666805744171F);
  CHECK(wide.zero_point == 0);
  QuantScheme narrow = scheme(ElementType::Int4, true);
  narrow.is_narrow = true;
  const ScaleAndZero exact = scale_and_zero({-1.75F, 0.5F}, narrow);
  CHECK(exact.scale == 0.25F);
  CHECK(exact.zero_point == 0);
  CHECK(quantize_value(1.75F, exact, ElementType::Int4) == 7);
  CHECK(quantize_value(-1.75F, exact, ElementType::Int4) == -7);
  CHECK(quantize_value(-2.0F, exact, ElementType::Int4) == -8);
  narrow.is_reduced = true;
  CHECK(spread_range(narrow).min == -4);
  CHECK(spread_range(narrow).max == 4);
}

TEST_CASE("a narrow spread is for symmetric int4 alone", "[quantize]") {
  for (const ElementType type : {ElementType::UInt4, ElementType::Int8, ElementType::Int16}) {
    for (const bool is_symmetric : {false, true}) {
      QuantScheme narrow = scheme(type, is_symmetric);
      const IntegerRange before = spread_range(narrow);
      narrow.is_narrow = true;
      CHECK(spread_range(narrow).min == before.min);
      CHECK(spread_range(narrow).max == before.max);
    }
  }
  QuantScheme asymmetric = scheme(ElementType::Int4);
  asymmetric.is_narrow = true;
  CHECK(spread_range(asymmetric).min == -8);
}

TEST_CASE("float8 takes its scale from the deviation", "[quantize]") {
  CHECK(float8_scale(1.0).scale == 1.0F / 100.05772399902344F);
  CHECK(float8_scale(1.0).zero_point == 0);
  CHECK(float8_scale(1.0, ElementType::Float16).scale == 0.00999450683593750F);
  CHECK(float8_scale(0).scale == 1.0F);
  CHECK(float8_scale(1e-6, ElementType::Float16).scale == 1.0F);
  CHECK(float8_scale(std::numeric_limits<double>::infinity()).scale == 1.0F);
  CHECK(is_float8(ElementType::Float8E4M3FN));
  CHECK_FALSE(is_float8(ElementType::Int8));
}

TEST_CASE("a restricted zero point is 0 or 128", "[quantize]") {
  QuantScheme restricted = scheme(ElementType::UInt8);
  restricted.is_restricted = true;
  const ScaleAndZero both = scale_and_zero({-1, 3}, restricted);
  CHECK(both.zero_point == 128);
  CHECK(both.scale == 3.0F / 127);
  CHECK(scale_and_zero({0.5F, 3}, restricted).zero_point == 0);
  CHECK(scale_and_zero({0.5F, 3}, restricted).scale == 3.0F / 255);
  CHECK(scale_and_zero({-1, 0}, restricted).scale == 0.0078125F);
  CHECK(scale_and_zero({0, 0}, restricted).scale == 1.0F / 255);
  // Where the zero point is fixed already, or the type has other levels, it changes nothing.
  restricted.is_symmetric = true;
  CHECK(scale_and_zero({-1, 3}, restricted).scale == static_cast<float>(6.0 / 255));
  QuantScheme other = scheme(ElementType::Int8);
  other.is_restricted = true;
  CHECK(scale_and_zero({-1, 2}, other).zero_point == -43);
}

TEST_CASE("float16 scales are rounded to float16, and are subnormal where they must",
          "[quantize]") {
  QuantScheme half = scheme(ElementType::UInt8);
  half.value_type = ElementType::Float16;
  CHECK(scale_and_zero({-1, 2}, half).scale == 0.01176452636718750F);
  CHECK(scale_and_zero({0, 0x1p-16F}, half).scale == 0x1p-24F);
  CHECK(scale_and_zero({0, 0x1p-20F}, half).scale == 1.0F);
  CHECK(scale_and_zero({-65504, 65504}, half).scale == 514.0F);
  // What float16 cannot hold is cut to what it can.
  CHECK(scale_and_zero({-1e9F, 1e9F}, half).scale == 514.0F);
}
