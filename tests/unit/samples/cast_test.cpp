#include "samples/cast.h"

#include <cmath>

#include "catch.h"
#include "tensor_builder.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

template <typename T>
Tensor tensor(ElementType type, const std::vector<T>& values) {
  return make_tensor_of(type, {static_cast<std::int64_t>(values.size())}, values);
}

std::vector<ElementType> all_types() {
  std::vector<ElementType> out;
  for (int type = 1; type <= static_cast<int>(ElementType::Float6E3M2); ++type)
    out.push_back(static_cast<ElementType>(type));
  return out;
}

}  // namespace

TEST_CASE("casts without loss are those to types that have every value", "[samples]") {
  using enum ElementType;
  const auto [from, expected] = GENERATE(table<ElementType, std::vector<ElementType>>({
      {Bool,
       {Float, UInt8, Int8, UInt16, Int16, Int32, Int64, Float16, Double, UInt32, UInt64,
        BFloat16}},
      {UInt8, {Float, UInt16, Int16, Int32, Int64, Float16, Double, UInt32, UInt64, BFloat16}},
      {Int8, {Float, Int16, Int32, Int64, Float16, Double, BFloat16}},
      {UInt16, {Float, Int32, Int64, Double, UInt32, UInt64}},
      {Int16, {Float, Int32, Int64, Double}},
      {UInt32, {Int64, Double, UInt64}},
      {Int32, {Int64, Double}},
      {UInt64, {}},
      {Int64, {}},
      {Float16, {Float, Double}},
      {BFloat16, {Float, Double}},
      {Float, {Double}},
      {Double, {}},
      {Float8E4M3FN, {Float, Float16, Double, BFloat16}},
      {Float8E5M2FNUZ, {Float, Float16, Double, BFloat16}},
      {UInt4,
       {Float, UInt8, Int8, UInt16, Int16, Int32, Int64, Float16, Double, UInt32, UInt64,
        BFloat16}},
      {String, {}},
      {Complex64, {}},
  }));
  std::vector<ElementType> found;
  for (const ElementType to : all_types()) {
    if (to != from && is_lossless(from, to)) found.push_back(to);
  }
  CHECK(found == expected);
  CHECK(is_lossless(from, from));
}

TEST_CASE("float64 is accepted for float32 and for nothing else that loses", "[samples]") {
  CHECK(is_accepted(ElementType::Double, ElementType::Float));
  CHECK_FALSE(is_accepted(ElementType::Double, ElementType::Float16));
  CHECK_FALSE(is_accepted(ElementType::Float, ElementType::Int64));
  CHECK_FALSE(is_accepted(ElementType::Int64, ElementType::Int32));
}

TEST_CASE("every value survives a cast without loss", "[samples]") {
  const Tensor bytes = tensor<std::int8_t>(ElementType::Int8, {-128, -1, 0, 1, 127});
  for (const ElementType to : all_types()) {
    if (!is_lossless(ElementType::Int8, to)) continue;
    const Tensor out = cast(bytes, to);
    CHECK(out.type == to);
    CHECK(out.shape == bytes.shape);
    CHECK(to_float32(out) == std::vector<float>{-128, -1, 0, 1, 127});
  }
  CHECK(
      cast(tensor<std::int32_t>(ElementType::Int32, {-2147483648, 2147483647}), ElementType::Int64)
          .int64s()[1] == 2147483647);
  const Tensor wide =
      cast(tensor<std::uint32_t>(ElementType::UInt32, {4294967295u}), ElementType::UInt64);
  CHECK(to_float64(wide) == std::vector<double>{4294967295.0});
}

TEST_CASE("every float8 is the same as float16 and as bfloat16", "[samples]") {
  const ElementType from = GENERATE(ElementType::Float8E4M3FN, ElementType::Float8E4M3FNUZ,
                                    ElementType::Float8E5M2, ElementType::Float8E5M2FNUZ);
  const ElementType to = GENERATE(ElementType::Float16, ElementType::BFloat16);
  std::vector<std::uint8_t> codes(256);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  const Tensor tensor_of_codes = tensor(from, codes);
  const std::vector<float> expected = to_float32(tensor_of_codes);
  const std::vector<float> found = to_float32(cast(tensor_of_codes, to));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    INFO("code " << i);
    CHECK((std::isnan(expected[i]) ? std::isnan(found[i]) : expected[i] == found[i]));
    CHECK((std::isnan(expected[i]) || std::signbit(expected[i]) == std::signbit(found[i])));
  }
}

TEST_CASE("float64 is rounded to the nearest float32", "[samples]") {
  const Tensor out =
      cast(tensor<double>(ElementType::Double, {0.1, -1e300, 1e-60}), ElementType::Float);
  CHECK(out.floats()[0] == 0.1f);
  CHECK(out.floats()[1] == -INFINITY);
  CHECK(out.floats()[2] == 0.0f);
}
