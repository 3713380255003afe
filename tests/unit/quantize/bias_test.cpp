#include "quantize/bias.h"

#include <cmath>
#include <cstring>

#include "catch.h"
#include "tensor_builder.h"

using namespace qtool;
using qtool::testing::float_tensor;

namespace {

std::vector<std::int32_t> integers(const std::vector<std::byte>& bytes) {
  std::vector<std::int32_t> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

QuantParams int8_weight(std::vector<float> scales) {
  QuantParams params{
      .type = ElementType::Int8, .scales = std::move(scales), .zero_points = {}, .axis = {}};
  params.zero_points.assign(params.scales.size(), 0);
  if (params.scales.size() > 1) params.axis = 0;
  return params;
}

}  // namespace

TEST_CASE("a bias of any shape is stored so that its last axis counts channels", "[quantize]") {
  CHECK(stored_bias(float_tensor({1, 3}, {1, 2, 3}), 3, 1)->shape == std::vector<std::int64_t>{3});
  CHECK(stored_bias(float_tensor({2, 3}, {1, 2, 3, 4, 5, 6}), 3, 1)->shape ==
        std::vector<std::int64_t>{2, 3});
  const auto broadcast = stored_bias(float_tensor({}, {5}), 3, 1);
  CHECK(broadcast->shape == std::vector<std::int64_t>{3});
  CHECK(std::vector<float>(broadcast->floats().begin(), broadcast->floats().end()) ==
        std::vector<float>{5, 5, 5});
  const auto column = stored_bias(float_tensor({2, 1}, {1, 2}), 3, 1);
  CHECK(std::vector<float>(column->floats().begin(), column->floats().end()) ==
        std::vector<float>{1, 1, 1, 2, 2, 2});
  CHECK(!stored_bias(float_tensor({2}, {1, 2}), 3, 1));
}

TEST_CASE("the factor of a bias goes into its values", "[quantize]") {
  CHECK(stored_bias(float_tensor({2}, {1, -2}), 1, 2.5F)->floats()[1] == -5.0F);
}

TEST_CASE("groups of channels take the weight's scales in turn", "[quantize]") {
  const Tensor stored = float_tensor({4}, {1, 2, -8, 4});
  CHECK(largest_per_scale(stored, 2) == std::vector<double>{8, 4});
  const QuantParams params = product_bias_params(stored, int8_weight({0.5F, 0.25F}), 2.0F);
  CHECK(params.scales == std::vector<float>{1, 0.5F, 1, 0.5F});
  CHECK(params.axis == 0);
  CHECK(integers(quantize_bias(stored, params)) == std::vector<std::int32_t>{1, 4, -8, 8});
}

TEST_CASE("a bias rounds half to even and saturates at int32", "[quantize]") {
  const Tensor stored = float_tensor({3}, {0.5F, 1.5F, 1e30F});
  QuantParams params = product_bias_params(stored, int8_weight({1}), 1.0F);
  CHECK(integers(quantize_bias(stored, params)) == std::vector<std::int32_t>{0, 2, 2147483647});
}

TEST_CASE("a tiny weight scale is raised where the output cannot show it", "[quantize]") {
  QuantParams weight = int8_weight({1e-9F, 0.01F});
  const double bias[] = {10.0, 10.0};
  const BiasHeadroom room{
      .input_scale = 0.1, .input_levels = 255, .products = 9, .output_step = 0.1};
  REQUIRE(fit_weight_scales(weight, {false, false}, bias, room));
  CHECK(weight.scales[0] * room.input_scale * 2147483647.0 >= 10.0);
  CHECK(weight.scales[0] * room.input_scale * 2147483647.0 < 10.01);
  CHECK(weight.scales[1] == 0.01F);
}

TEST_CASE("a tiny weight scale stays where the output stays float", "[quantize]") {
  QuantParams weight = int8_weight({1e-9F});
  const double bias[] = {1000.0};
  CHECK(!fit_weight_scales(
      weight, {false}, bias,
      {.input_scale = 0.1, .input_levels = 255, .products = 9, .output_step = 0}));
  CHECK(weight.scales[0] == 1e-9F);
  const Tensor stored = float_tensor({1}, {1000});
  const QuantParams own = own_bias_params(stored, bias);
  const double restored =
      integers(quantize_bias(stored, own))[0] * static_cast<double>(own.scales[0]);
  CHECK(restored == Approx(1000.0).epsilon(1e-6));
}

TEST_CASE(
    "an all-zero channel takes the scale of the others, so that its bias is as fine as theirs",
    "[quantize]") {
  QuantParams weight = int8_weight({1.0F, 0.004F});
  const double bias[] = {0.151, 0.2};
  REQUIRE(fit_weight_scales(
      weight, {true, false}, bias,
      {.input_scale = 0.02, .input_levels = 255, .products = 9, .output_step = 0.01}));
  CHECK(weight.scales[0] == 0.004F);
}

TEST_CASE("float16 scales of a bias are rounded after each product", "[quantize]") {
  const Tensor stored = float_tensor({1}, {0.5F});
  QuantParams weight = int8_weight({0.0030002593994140625F});
  weight.scale_type = ElementType::Float16;
  const QuantParams params =
      product_bias_params(stored, weight, {0.0200042724609375F, 2.5F, ElementType::Float16});
  CHECK(params.scale_type == ElementType::Float16);
  // 6.0018e-05 is subnormal: 1007 steps of 2^-24; 2.5 times that is 2517.5 steps, stored as 2518.
  CHECK(params.scales == std::vector<float>{0x1.3acp-13F});
}

TEST_CASE("a float16 bias that float16 scales would lose gets float32 ones", "[quantize]") {
  const Tensor stored = float_tensor({2}, {4000, -1});
  QuantParams weight = int8_weight({0x1p-20F});
  weight.scale_type = ElementType::Float16;
  const QuantParams params =
      product_bias_params(stored, weight, {0x1p-10F, 1, ElementType::Float16});
  CHECK(params.scale_type == ElementType::Float);
  CHECK(params.scales.front() == static_cast<float>(4000.0 / 2147483647 * 1.0001));
  const auto back = integers(quantize_bias(stored, params));
  CHECK(static_cast<double>(back[0]) * static_cast<double>(params.scales[0]) ==
        Approx(4000).epsilon(1e-6));
  const Tensor zeros = float_tensor({1}, {0});
  CHECK(product_bias_params(zeros, int8_weight({0}), {1, 1, ElementType::Float16}).scales[0] == 1);
}

TEST_CASE("a float16 bias is stored with the numbers it holds", "[quantize]") {
  const Tensor half{
      ElementType::Float16, {2}, {std::byte{0}, std::byte{0x3C}, std::byte{0}, std::byte{0xC1}}};
  const auto stored = stored_bias(half, 1, 2);
  CHECK(stored->floats()[0] == 2.0F);
  CHECK(stored->floats()[1] == -5.0F);
}

TEST_CASE("a raised float16 scale is the next number that is large enough", "[quantize]") {
  for (int i = 0; i < 2000; ++i) {
    const double largest = 900.0 + i;
    const double raised = adjusted_weight_scale(1e-3, 0x1p-24, largest, ElementType::Float16);
    const double needed = 1.0001 * largest / 2147483647 / 1e-3;
    if (raised < needed * (1 - 1e-12)) FAIL(largest);
    const double last_bit = std::max(std::ldexp(1.0, std::ilogb(raised) - 10), 0x1p-24);
    if (raised - last_bit >= needed) FAIL(largest << " goes further than it must");
  }
  CHECK(adjusted_weight_scale(0.1, 0.01, 1, ElementType::Float16) == 0.01);
  CHECK(adjusted_weight_scale(0.1, 0, 1, ElementType::Float) == 0);
}

TEST_CASE("a raised weight scale is a float16 number where the weight is one", "[quantize]") {
  QuantParams weight = int8_weight({0x1p-24F});
  weight.scale_type = ElementType::Float16;
  const double bias[] = {1000.0};
  REQUIRE(fit_weight_scales(
      weight, {false}, bias,
      {.input_scale = 0.001, .input_levels = 255, .products = 1, .output_step = 100}));
  const double raised = weight.scales[0];
  CHECK(raised * 0.001 * 2147483647.0 >= 1000.0);
  CHECK(std::remainder(raised, std::ldexp(1.0, std::ilogb(raised) - 10)) == 0);
}
