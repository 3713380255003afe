#include "samples/finite.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "tensor_builder.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

template <typename T>
Tensor tensor(ElementType type, const std::vector<T>& values) {
  return make_tensor_of(
      type, {static_cast<std::int64_t>(values.size() * sizeof(T) * 8 / element_bits(type))},
      values);
}

}  // namespace

TEST_CASE("the first value that is not finite is found, wherever it is", "[samples]") {
  const std::size_t count = GENERATE(std::size_t{1}, std::size_t{1023}, std::size_t{1024},
                                     std::size_t{1025}, std::size_t{5000});
  const float value = GENERATE(NAN, -NAN, INFINITY, -INFINITY);
  std::vector<float> values(count, std::numeric_limits<float>::lowest());
  CHECK_FALSE(find_nonfinite(tensor(ElementType::Float, values)));
  for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
    values[at] = value;
    CHECK(find_nonfinite(tensor(ElementType::Float, values)) == at);
    values[at] = std::numeric_limits<float>::denorm_min();
  }
  values.back() = value;
  values.front() = value;
  CHECK(find_nonfinite(tensor(ElementType::Float, values)) == 0);
}

TEST_CASE("each type has its own codes for what is not finite", "[samples]") {
  using Codes = std::vector<std::uint16_t>;
  CHECK(find_nonfinite(tensor<double>(ElementType::Double, {1e308, -1e-308, NAN})) == 2);
  CHECK(find_nonfinite(tensor<double>(ElementType::Double, {1e308, -INFINITY})) == 1);
  CHECK_FALSE(find_nonfinite(tensor<double>(ElementType::Double, {1e308, 0, -1e308})));
  CHECK(find_nonfinite(
            tensor<std::uint16_t>(ElementType::Float16, Codes{0x7bff, 0xfbff, 0xfc00})) == 2);
  CHECK(find_nonfinite(tensor<std::uint16_t>(ElementType::Float16, Codes{0x7bff, 0x7c01})) == 1);
  CHECK_FALSE(
      find_nonfinite(tensor<std::uint16_t>(ElementType::BFloat16, Codes{0x7bff, 0x7f7f, 0xff7f})));
  CHECK(find_nonfinite(tensor<std::uint16_t>(ElementType::BFloat16, Codes{0x7f7f, 0xff80})) == 1);
  CHECK(find_nonfinite(tensor<float>(ElementType::Complex64, {1, 2, 3, NAN, 5, 6})) == 1);
  CHECK(find_nonfinite(tensor<double>(ElementType::Complex128, {1, 2, 3, 4, INFINITY, 6})) == 2);
  using Bytes = std::vector<std::uint8_t>;
  CHECK(find_nonfinite(tensor<std::uint8_t>(ElementType::Float8E4M3FN, Bytes{0x7e, 0x80, 0x7f})) ==
        2);
  CHECK(find_nonfinite(tensor<std::uint8_t>(ElementType::Float8E4M3FNUZ, Bytes{0x7f, 0x80})) == 1);
  CHECK(find_nonfinite(tensor<std::uint8_t>(ElementType::Float8E5M2, Bytes{0x7b, 0x7c})) == 1);
  CHECK(find_nonfinite(tensor<std::uint8_t>(ElementType::Float8E5M2FNUZ, Bytes{0x7c, 0x80})) == 1);
  CHECK_FALSE(find_nonfinite(tensor<std::uint8_t>(ElementType::UInt8, Bytes{0x7f, 0x80, 0xff})));
  CHECK_FALSE(find_nonfinite(tensor<std::int32_t>(ElementType::Int32, {0x7f800000, -1})));
}
