#include "quantize/constants.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "model/float_values.h"
#include "tensor_builder.h"

using namespace qtool;
using qtool::testing::float_tensor;

namespace {

Tensor half_tensor(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return {ElementType::Float16, std::move(shape),
          encode_floats(ElementType::Float16, std::span<const float>(values))};
}

QuantScheme scheme(ElementType type, bool is_symmetric = false) {
  return {.type = type, .is_symmetric = is_symmetric};
}

std::vector<int> codes(const std::vector<std::byte>& bytes) {
  std::vector<int> out;
  for (const std::byte byte : bytes) out.push_back(std::to_integer<int>(byte));
  return out;
}

std::string refusal(const Tensor& values, const ScaleSharing& sharing, const QuantScheme& scheme,
                    const GivenParams& given = {}) {
  try {
    (void)constant_params(values, sharing, scheme, given);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("4-bit constants are packed two to a byte, the first in the low nibble", "[quantize]") {
  QuantParams params;
  params.type = ElementType::Int4;
  params.scales = {1};
  params.zero_points = {0};
  const Tensor values = float_tensor({5}, {1, -1, 7, -8.6F, 3});
  CHECK(codes(quantize_constant(values, params)) == std::vector<int>{0xF1, 0x87, 0x03});
  params.type = ElementType::UInt4;
  params.zero_points = {8};
  CHECK(codes(quantize_constant(values, params)) == std::vector<int>{0x79, 0x0F, 0x0B});
}

TEST_CASE("a constant of no values has scale 1, whatever else is asked", "[quantize]") {
  QuantScheme wide = scheme(ElementType::UInt8);
  wide.minimum_real_range = 5.0;
  const auto found = constant_params(float_tensor({0}, {}), {}, wide);
  CHECK(found->params.scales == std::vector<float>{1});
  CHECK(found->params.zero_points == std::vector<std::int32_t>{0});
  CHECK(constant_params(float_tensor({2, 0}, {}), {.axis = 0}, wide)->params.scales ==
        std::vector<float>{1, 1});
}

TEST_CASE("blocks run along any axis of any rank, the last one shorter", "[quantize]") {
  // Axis 1 of [2,3,2] in blocks of 2: [2,2,2] scales.
  const Tensor values = float_tensor({2, 3, 2}, {1, 2, -3, 4, 5, -6, 0, 0, 0, 8, 9, 10});
  const auto found =
      constant_params(values, {.axis = 1, .block_size = 2}, scheme(ElementType::Int8, true));
  const QuantParams& params = found->params;
  CHECK(params.block_shape == std::vector<std::int64_t>{2, 2, 2});
  CHECK(params.axis == 1);
  CHECK(params.block_size == 2);
  const float largest[] = {3, 4, 5, 6, 0, 8, 9, 10};
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(params.scales[i] == (largest[i] == 0 ? 1 : 2 * largest[i] / 254));
  CHECK(found->is_zero == std::vector<bool>{false, false, false, false, true, false, false, false});
  CHECK(codes(quantize_constant(values, params)) ==
        std::vector<int>{42, 64, 256 - 127, 127, 127, 256 - 127, 0, 0, 0, 127, 127, 127});
}

TEST_CASE("blocks of rank 1, and blocks wider than the axis", "[quantize]") {
  const Tensor values = float_tensor({5}, {1, 2, 3, 4, 5});
  const auto found =
      constant_params(values, {.axis = {}, .block_size = 2}, scheme(ElementType::UInt4));
  CHECK(found->params.axis == 0);
  CHECK(found->params.scales == std::vector<float>{2.0F / 15, 4.0F / 15, 5.0F / 15});
  const auto one =
      constant_params(values, {.axis = 0, .block_size = std::numeric_limits<std::int64_t>::max()},
                      scheme(ElementType::UInt4));
  CHECK(one->params.block_shape == std::vector<std::int64_t>{1});
}

TEST_CASE("blocks with an all-zero one keep the middle zero point where symmetric", "[quantize]") {
  const Tensor zeros = float_tensor({2, 1}, {0, 0});
  const ScaleSharing blocks{.axis = 0, .block_size = 2};
  const auto symmetric = constant_params(zeros, blocks, scheme(ElementType::UInt8, true));
  CHECK(symmetric->params.zero_points == std::vector<std::int32_t>{128});
  CHECK(constant_params(zeros, blocks, scheme(ElementType::UInt8))->params.zero_points ==
        std::vector<std::int32_t>{0});
}

TEST_CASE("blocks over the whole range of float32 have finite scales", "[quantize]") {
  constexpr float kMax = std::numeric_limits<float>::max();
  const Tensor values = float_tensor({2, 1}, {-kMax, kMax});
  const auto found =
      constant_params(values, {.axis = 0, .block_size = 2}, scheme(ElementType::UInt8));
  CHECK(std::isfinite(found->params.scales[0]));
  CHECK(found->params.zero_points[0] == 128);
}

TEST_CASE("no block, channel or float8 holds NaN or infinity", "[quantize]") {
  const Tensor values = float_tensor({2, 1}, {1, std::numeric_limits<float>::infinity()});
  CHECK_FALSE(constant_params(values, {.axis = 0, .block_size = 1}, scheme(ElementType::Int4)));
  CHECK_FALSE(constant_params(values, {.axis = 0}, scheme(ElementType::Int4)));
  CHECK_FALSE(constant_params(values, {}, scheme(ElementType::Float8E4M3FN)));
  CHECK_FALSE(constant_params(half_tensor({1}, {std::nanf("")}), {}, scheme(ElementType::Int8)));
  CHECK_FALSE(
      constant_params(values, {}, scheme(ElementType::Int8), {.scale = {1}, .zero_point = {0}}));
}

TEST_CASE("float8 of equal values keeps them, where ONNX Runtime has scale 0", "[quantize]") {
  for (const auto& values : {float_tensor({3}, {-7, -7, -7}), half_tensor({3}, {-7, -7, -7})}) {
    const auto found = constant_params(values, {}, scheme(ElementType::Float8E4M3FN));
    CHECK(found->params.scales == std::vector<float>{7.0F / 448});
    CHECK(codes(quantize_constant(values, found->params)) == std::vector<int>{0xFE, 0xFE, 0xFE});
  }
  const auto zero = constant_params(float_tensor({1}, {0}), {}, scheme(ElementType::Float8E4M3FN));
  CHECK(zero->params.scales == std::vector<float>{1});
}

TEST_CASE("float8 of float16 values whose squares float16 cannot hold", "[quantize]") {
  std::vector<float> large(100, 1000.0F), small(100, 0x1p-13F);
  for (std::size_t i = 0; i < 100; i += 2) {
    large[i] = -1000.0F;
    small[i] = -0x1p-13F;
  }
  const auto scale_of = [](const std::vector<float>& values) {
    return constant_params(half_tensor({100}, values), {}, scheme(ElementType::Float8E4M3FN))
        ->params.scales[0];
  };
  CHECK(scale_of(large) == float8_scale(1000, ElementType::Float16).scale);
  CHECK(scale_of(small) == float8_scale(0x1p-13, ElementType::Float16).scale);
}

TEST_CASE("a given range takes the place of the values' own, each end for itself", "[quantize]") {
  const Tensor values = float_tensor({2, 2}, {-1, 3, -2, 5});
  const QuantScheme uint8 = scheme(ElementType::UInt8);
  CHECK(constant_params(values, {}, uint8, {.rmax = {10}})->params.scales ==
        std::vector<float>{12.0F / 255});
  CHECK(constant_params(values, {.axis = 0}, uint8, {.rmin = {-4, 0}})->params.scales ==
        std::vector<float>{7.0F / 255, 5.0F / 255});
  CHECK(constant_params(values, {.axis = 0}, uint8, {.rmin = {-4}, .rmax = {1}})->params.scales ==
        std::vector<float>{5.0F / 255, 5.0F / 255});
  // Blocks have ranges of their own.
  CHECK(
      constant_params(values, {.axis = 0, .block_size = 1}, uint8, {.rmax = {10}})->params.scales ==
      std::vector<float>{1.0F / 255, 3.0F / 255, 2.0F / 255, 5.0F / 255});
}

TEST_CASE("a given scale and zero point are used as they are, cast to their types", "[quantize]") {
  const Tensor values = half_tensor({2, 2}, {-1, 3, -2, 5});
  const auto found =
      constant_params(values, {.axis = 1, .block_size = 2}, scheme(ElementType::Int8),
                      {.scale = {0.1, 0.5}, .zero_point = {3, -128}});
  CHECK(found->params.scales == std::vector<float>{0.0999755859375F, 0.5F});
  CHECK(found->params.zero_points == std::vector<std::int32_t>{3, -128});
  CHECK(found->params.scale_type == ElementType::Float16);
  CHECK(found->params.block_size == 0);
  CHECK(codes(quantize_constant(values, found->params)) ==
        std::vector<int>{256 - 7, 256 - 122, 256 - 17, 256 - 118});
}

TEST_CASE("what is given and does not fit is refused", "[quantize]") {
  const Tensor values = float_tensor({3, 1}, {1, 2, 3});
  const QuantScheme int8 = scheme(ElementType::Int8);
  CHECK(refusal(values, {.axis = 0}, int8, {.rmin = {1, 2}}) == "rmin: 2 values, expected 1 or 3");
  CHECK(refusal(values, {}, int8, {.scale = {0}, .zero_point = {0}}) ==
        "scale: 0.000000, expected a positive number that float32 holds");
  CHECK(refusal(values, {}, int8, {.scale = {1}, .zero_point = {128}}) ==
        "zero_point: 128.000000, expected a value of int8, -128 to 127");
  CHECK(refusal(values, {}, scheme(ElementType::Float8E4M3FN), {.scale = {1}, .zero_point = {1}}) ==
        "zero_point: 1.000000, expected a value of float8e4m3fn, 0 to 0");
  CHECK(refusal(values, {.axis = 0, .block_size = 2}, scheme(ElementType::Float8E4M3FN)) ==
        "BlockSize: weights of type float8e4m3fn have one scale per tensor or channel, no blocks");
  QuantScheme reduced = scheme(ElementType::Float8E4M3FN);
  reduced.is_reduced = true;
  CHECK(refusal(values, {}, reduced) ==
        "reduce_range: float8e4m3fn has no reduced range, expected false");
}

TEST_CASE("a narrow int4 spread reaches the largest magnitude in blocks too", "[quantize]") {
  QuantScheme narrow = scheme(ElementType::Int4, true);
  narrow.is_narrow = true;
  const Tensor values = float_tensor({2, 2}, {1.75F, -3.5F, -0.5F, 1});
  const auto found = constant_params(values, {.axis = 0, .block_size = 2}, narrow);
  CHECK(found->params.scales == std::vector<float>{0.25F, 0.5F});
  CHECK(codes(quantize_constant(values, found->params)) == std::vector<int>{0x97, 0x2E});
}
