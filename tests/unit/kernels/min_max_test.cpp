#include "kernels/min_max.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

MinMax definition(std::span<const float> values, std::size_t stride = 1) {
  MinMax out;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    if (!std::isfinite(values[i])) {
      ++out.nonfinite_count;
      continue;
    }
    out.min = out.finite_count == 0 ? values[i] : std::min(out.min, values[i]);
    out.max = out.finite_count == 0 ? values[i] : std::max(out.max, values[i]);
    ++out.finite_count;
  }
  if (out.min == 0) out.min = 0;
  if (out.max == 0) out.max = 0;
  return out;
}

bool same_bits(const MinMax& a, const MinMax& b) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  return bits(a.min) == bits(b.min) && bits(a.max) == bits(b.max) &&
         a.finite_count == b.finite_count && a.nonfinite_count == b.nonfinite_count;
}

MinMax channel_definition(std::span<const float> values, Channels channels, std::size_t channel) {
  std::vector<float> of_channel;
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    const auto piece =
        values.subspan((outer * channels.count + channel) * channels.inner, channels.inner);
    of_channel.insert(of_channel.end(), piece.begin(), piece.end());
  }
  return definition(of_channel);
}

}  // namespace

TEST_CASE("min_max equals its definition on every target", "[kernels]") {
  for_each_target([] {
    for_each_input([](std::span<const float> values) {
      if (!same_bits(min_max(values), definition(values))) FAIL("differs");
    });
  });
}

TEST_CASE("min_max of nothing has no values", "[kernels]") {
  CHECK(same_bits(min_max({}), MinMax{}));
}

TEST_CASE("min_max counts a NaN wherever it stands", "[kernels]") {
  for_each_target([] {
    auto values = test_values(1100, Values::Normal);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float kept = std::exchange(values[i], std::numeric_limits<float>::quiet_NaN());
      if (!same_bits(min_max(values), definition(values))) FAIL("differs at " << i);
      values[i] = kept;
    }
  });
}

TEST_CASE("min_max_per_channel equals min_max of each channel's values", "[kernels]") {
  const Channels shapes[] = {{1, 1, 1}, {1, 7, 9}, {3, 2, 40},  {5, 33, 1},  {1, 40, 1},
                             {0, 3, 1}, {2, 3, 0}, {64, 16, 1}, {70, 50, 1}, {4, 17, 2}};
  for_each_target([&] {
    for (const Channels& channels : shapes) {
      for (const Values kind : {Values::Normal, Values::WithSpecial, Values::OnlyNonfinite}) {
        const auto values = test_values(channels.outer * channels.count * channels.inner, kind);
        std::vector<MinMax> out(channels.count, MinMax{9, 9, 9, 9});
        min_max_per_channel(values, channels, out);
        for (std::size_t c = 0; c < channels.count; ++c) {
          CAPTURE(channels.outer, channels.count, channels.inner, c);
          CHECK(same_bits(out[c], channel_definition(values, channels, c)));
        }
      }
    }
  });
}

TEST_CASE("min_max_per_block equals min_max of each block's values", "[kernels]") {
  const Blocks shapes[] = {{1, 9, 1, 4},    {3, 64, 1, 32}, {2, 7, 5, 3},
                           {1, 33, 40, 16}, {2, 0, 3, 4},   {0, 4, 1, 32}};
  for_each_target([&] {
    for (const Blocks& blocks : shapes) {
      const auto values =
          test_values(blocks.outer * blocks.length * blocks.inner, Values::WithSpecial);
      std::vector<std::vector<float>> parts(blocks.count());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t row = i / blocks.inner;
        const std::size_t block =
            row / blocks.length * blocks.per_axis() + row % blocks.length / blocks.size;
        parts[block * blocks.inner + i % blocks.inner].push_back(values[i]);
      }
      std::vector<MinMax> out(blocks.count(), MinMax{9, 9, 9, 9});
      min_max_per_block(values, blocks, out);
      for (std::size_t b = 0; b < parts.size(); ++b) {
        CAPTURE(blocks.outer, blocks.length, blocks.inner, blocks.size, b);
        CHECK(same_bits(out[b], definition(parts[b])));
      }
    }
  });
}

}  // namespace qtool::kernels
