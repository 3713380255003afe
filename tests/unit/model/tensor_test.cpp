#include "model/tensor.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "catch.h"
#include "tensor_builder.h"

using namespace qtool;
using qtool::testing::float_tensor;
using qtool::testing::int64_tensor;
using qtool::testing::make_tensor_of;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The values of elements given by their bytes.
std::vector<float> decoded(ElementType type, std::int64_t count, std::initializer_list<int> bytes) {
  Tensor tensor{type, {count}, {}};
  for (const int byte : bytes) tensor.bytes.push_back(static_cast<std::byte>(byte));
  return to_float32(tensor);
}

std::vector<float> decoded16(ElementType type, std::vector<std::uint16_t> codes) {
  return to_float32(make_tensor_of(type, {static_cast<std::int64_t>(codes.size())}, codes));
}

}  // namespace

TEST_CASE("tensor: whole numbers of every width become floats", "[model]") {
  const auto check = []<typename T>(ElementType type, std::vector<T> values,
                                    std::vector<float> expected) {
    CHECK(to_float32(make_tensor_of(type, {static_cast<std::int64_t>(values.size())}, values)) ==
          expected);
  };
  check(ElementType::Int8, std::vector<std::int8_t>{-128, 127}, {-128, 127});
  check(ElementType::UInt8, std::vector<std::uint8_t>{0, 255}, {0, 255});
  check(ElementType::Bool, std::vector<std::uint8_t>{0, 1}, {0, 1});
  check(ElementType::Int16, std::vector<std::int16_t>{-32768, 32767}, {-32768, 32767});
  check(ElementType::UInt16, std::vector<std::uint16_t>{65535}, {65535});
  check(ElementType::Int32, std::vector<std::int32_t>{-2147483648, 7}, {-2147483648.0f, 7});
  check(ElementType::UInt32, std::vector<std::uint32_t>{4294967295u}, {4294967296.0f});
  check(ElementType::Int64, std::vector<std::int64_t>{-9007199254740993}, {-9007199254740992.0f});
  check(ElementType::UInt64, std::vector<std::uint64_t>{1ull << 63}, {9223372036854775808.0f});
  check(ElementType::Double, std::vector<double>{0.1}, {0.1f});
}

TEST_CASE("tensor: float64 keeps what float32 cannot hold", "[model]") {
  CHECK(to_float64(int64_tensor({1}, {9007199254740991})) ==
        std::vector<double>{9007199254740991.0});
  CHECK(to_float64(make_tensor_of<double>(ElementType::Double, {1}, {0.1})) ==
        std::vector<double>{0.1});
  CHECK(to_float64(float_tensor({1}, {0.1f})) == std::vector<double>{static_cast<double>(0.1f)});
}

TEST_CASE("tensor: float16 is exact, subnormal numbers and infinities included", "[model]") {
  CHECK(decoded16(ElementType::Float16, {0x3C00, 0xC000, 0x0001, 0x03FF, 0x7BFF, 0x7C00, 0xFC00}) ==
        std::vector<float>{1, -2, 0x1p-24f, 0x1.FF8p-15f, 65504, kInfinity, -kInfinity});
  CHECK(std::isnan(decoded16(ElementType::Float16, {0x7C01})[0]));
  CHECK(std::signbit(decoded16(ElementType::Float16, {0x8000})[0]));
}

TEST_CASE("tensor: bfloat16 is the upper half of a float32", "[model]") {
  CHECK(decoded16(ElementType::BFloat16, {0x3F80, 0xC2F7, 0x7F80}) ==
        std::vector<float>{1, -123.5f, kInfinity});
  CHECK(std::isnan(decoded16(ElementType::BFloat16, {0x7FC0})[0]));
}

TEST_CASE("tensor: 8-bit floats follow their tables", "[model]") {
  CHECK(decoded(ElementType::Float8E4M3FN, 4, {0x38, 0x7E, 0x01, 0xBC}) ==
        std::vector<float>{1, 448, 0x1p-9f, -1.5f});
  CHECK(std::isnan(decoded(ElementType::Float8E4M3FN, 1, {0x7F})[0]));
  CHECK(decoded(ElementType::Float8E4M3FNUZ, 3, {0x40, 0x7F, 0x01}) ==
        std::vector<float>{1, 240, 0x1p-10f});
  CHECK(std::isnan(decoded(ElementType::Float8E4M3FNUZ, 1, {0x80})[0]));
  CHECK(decoded(ElementType::Float8E5M2, 4, {0x3C, 0x7B, 0x01, 0x7C}) ==
        std::vector<float>{1, 57344, 0x1p-16f, kInfinity});
  CHECK(std::isnan(decoded(ElementType::Float8E5M2, 1, {0x7D})[0]));
  CHECK(decoded(ElementType::Float8E5M2FNUZ, 3, {0x40, 0x7F, 0x01}) ==
        std::vector<float>{1, 57344, 0x1p-17f});
  CHECK(std::isnan(decoded(ElementType::Float8E5M2FNUZ, 1, {0x80})[0]));
  CHECK(decoded(ElementType::Float8E8M0, 3, {127, 130, 0}) == std::vector<float>{1, 8, 0x1p-127f});
  CHECK(std::isnan(decoded(ElementType::Float8E8M0, 1, {255})[0]));
}

TEST_CASE("tensor: elements below a byte are taken from its low end on", "[model]") {
  CHECK(decoded(ElementType::UInt4, 3, {0xF1, 0x07}) == std::vector<float>{1, 15, 7});
  CHECK(decoded(ElementType::Int4, 3, {0xF1, 0x08}) == std::vector<float>{1, -1, -8});
  CHECK(decoded(ElementType::UInt2, 5, {0b11100100, 0b01}) == std::vector<float>{0, 1, 2, 3, 1});
  CHECK(decoded(ElementType::Int2, 4, {0b11100100}) == std::vector<float>{0, 1, -2, -1});
  CHECK(decoded(ElementType::Float4E2M1, 4, {0x21, 0xF7}) == std::vector<float>{0.5f, 1, 6, -6});
  // 8, 31 (7.5), 1 (0.125) and 63 (-7.5), six bits each.
  CHECK(decoded(ElementType::Float6E2M3, 4, {0b11001000, 0b00010111, 0b11111100}) ==
        std::vector<float>{1, 7.5f, 0.125f, -7.5f});
  // 12 (1), 31 (28), 1 (0.0625) and 63 (-28).
  CHECK(decoded(ElementType::Float6E3M2, 4, {0b11001100, 0b00010111, 0b11111100}) ==
        std::vector<float>{1, 28, 0.0625f, -28});
}

TEST_CASE("tensor: an empty shape is one element, a zero in it none", "[model]") {
  CHECK(float_tensor({}, {5}).element_count() == 1);
  CHECK(float_tensor({3, 0}, {}).element_count() == 0);
  CHECK(to_float32(float_tensor({3, 0}, {})).empty());
}

TEST_CASE("tensor: shapes and types are described in few words", "[model]") {
  CHECK(describe_shape(std::vector<std::int64_t>{}) == "scalar");
  CHECK(describe_shape(std::vector<std::int64_t>{2, 3, 4}) == "2x3x4");
  TensorInfo info{"x", ElementType::Float, {-1, 3, -1}, {"N", "", ""}, true};
  CHECK(describe(info) == "float32[N,3,?]");
  info.has_shape = false;
  CHECK(describe(info) == "float32");
}
