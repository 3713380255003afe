#include "kernels/quantize_linear.h"

#include <algorithm>
#include <cmath>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

struct Params {
  float scale;
  std::int32_t zero_point, qmin, qmax;
};

template <typename Integer>
Integer definition(float value, const Params& p) {
  const float steps = value / p.scale;
  if (std::isnan(steps)) return static_cast<Integer>(p.zero_point);
  const float whole = std::nearbyintf(steps) + static_cast<float>(p.zero_point);
  return static_cast<Integer>(
      std::clamp(whole, static_cast<float>(p.qmin), static_cast<float>(p.qmax)));
}

template <typename Integer>
void check_tensor(std::span<const float> values, const Params& p) {
  std::vector<Integer> out(values.size() + 1, Integer{77});
  quantize_linear(values, p.scale, p.zero_point, p.qmin, p.qmax,
                  std::span(out).first(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (out[i] != definition<Integer>(values[i], p))
      FAIL("element " << i << ", value " << values[i]);
  }
  if (out.back() != Integer{77}) FAIL("wrote beyond the end");
}

template <typename Integer>
void check_channels(const Channels& channels) {
  const auto values =
      test_values(channels.outer * channels.count * channels.inner, Values::WithSpecial);
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  for (std::size_t c = 0; c < channels.count; ++c) {
    scales.push_back(0.37F * static_cast<float>(c + 1));
    zero_points.push_back(static_cast<std::int32_t>(c % 100));
  }
  std::vector<Integer> out(values.size() + 1, Integer{77});
  quantize_linear_per_channel(values, channels, {scales, zero_points, 0, 120},
                              std::span(out).first(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i / channels.inner % channels.count;
    if (out[i] != definition<Integer>(values[i], {scales[c], zero_points[c], 0, 120}))
      FAIL("element " << i);
  }
  if (out.back() != Integer{77}) FAIL("wrote beyond the end");
}

template <typename Integer>
void check_blocks(const Blocks& blocks) {
  const auto values = test_values(blocks.outer * blocks.length * blocks.inner, Values::WithSpecial);
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    scales.push_back(0.37F * static_cast<float>(b + 1));
    zero_points.push_back(static_cast<std::int32_t>(b % 7));
  }
  std::vector<Integer> out(values.size() + 1, Integer{77});
  quantize_linear_per_block(values, blocks, {scales, zero_points, 0, 7},
                            std::span(out).first(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = i / blocks.inner % blocks.length;
    const std::size_t outer = i / blocks.inner / blocks.length;
    const std::size_t b =
        (outer * blocks.per_axis() + at / blocks.size) * blocks.inner + i % blocks.inner;
    if (out[i] != definition<Integer>(values[i], {scales[b], zero_points[b], 0, 7}))
      FAIL("element " << i);
  }
  if (out.back() != Integer{77}) FAIL("wrote beyond the end");
}

}  // namespace

TEST_CASE("quantize_linear equals its definition on every target and for every type", "[kernels]") {
  for_each_target([] {
    for_each_input([](std::span<const float> values) {
      check_tensor<std::int8_t>(values, {0.1F, -3, -128, 127});
      check_tensor<std::uint8_t>(values, {0.7F, 128, 0, 255});
      check_tensor<std::int16_t>(values, {0.003F, 5, -32768, 32767});
      check_tensor<std::uint16_t>(values, {1e-3F, 40000, 0, 65535});
    });
  });
}

TEST_CASE("quantize_linear rounds halves to even", "[kernels]") {
  const float values[] = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 126.5F, 127.5F, -128.5F};
  std::vector<std::int8_t> out(std::size(values));
  for_each_target([&] {
    quantize_linear(values, 1.0F, 0, -128, 127, std::span<std::int8_t>(out));
    CHECK(out == std::vector<std::int8_t>{0, 2, 2, 0, -2, -2, 126, 127, -128});
  });
}

TEST_CASE("quantize_linear clamps infinities to the ends and takes NaN for zero", "[kernels]") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float values[] = {kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 3e38F};
  std::vector<std::int8_t> out(std::size(values));
  for_each_target([&] {
    quantize_linear(values, 1e-3F, 7, -127, 126, std::span<std::int8_t>(out));
    CHECK(out == std::vector<std::int8_t>{126, -127, 7, 126});
  });
}

TEST_CASE("quantize_linear takes scales that are denormal, huge or below every value",
          "[kernels]") {
  const auto values = test_values(100, Values::WithSpecial);
  for_each_target([&] {
    for (const float scale : {1e-42F, 1.2e-38F, 3e38F, 1.0F / 3})
      check_tensor<std::uint8_t>(values, {scale, 3, 0, 255});
  });
}

TEST_CASE("quantize_linear_per_channel gives each channel its own scale and zero point",
          "[kernels]") {
  const Channels shapes[] = {{1, 1, 1},  {1, 7, 9},  {3, 2, 40}, {5, 33, 1},
                             {9, 16, 1}, {4, 17, 2}, {0, 3, 1}};
  for_each_target([&] {
    for (const Channels& channels : shapes) {
      CAPTURE(channels.outer, channels.count, channels.inner);
      check_channels<std::int8_t>(channels);
      check_channels<std::uint8_t>(channels);
      check_channels<std::int16_t>(channels);
      check_channels<std::uint16_t>(channels);
    }
  });
}

TEST_CASE("quantize_linear_per_block gives each block its own scale and zero point", "[kernels]") {
  const Blocks shapes[] = {{1, 9, 1, 4},  {3, 64, 1, 32}, {2, 7, 5, 3},  {1, 33, 17, 16},
                           {4, 5, 33, 9}, {2, 0, 3, 4},   {0, 4, 1, 32}, {1, 1, 1, 1}};
  for_each_target([&] {
    for (const Blocks& blocks : shapes) {
      CAPTURE(blocks.outer, blocks.length, blocks.inner, blocks.size);
      check_blocks<std::int8_t>(blocks);
      check_blocks<std::uint8_t>(blocks);
      check_blocks<std::int16_t>(blocks);
      check_blocks<std::uint16_t>(blocks);
    }
  });
}

}  // namespace qtool::kernels
