#include "kernels/quantize_linear.h"

#include <algorithm>
#include <vector>

#define HWY_TARGET_INCLUDE "kernels/quantize_linear_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/quantize_linear_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(quantize_row_i8);
HWY_EXPORT(quantize_row_u8);
HWY_EXPORT(quantize_row_i16);
HWY_EXPORT(quantize_row_u16);

void quantize_row(const float* values, std::size_t count, RowParams params, std::int8_t* out) {
  HWY_DYNAMIC_DISPATCH(quantize_row_i8)(values, count, params, out);
}
void quantize_row(const float* values, std::size_t count, RowParams params, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(quantize_row_u8)(values, count, params, out);
}
void quantize_row(const float* values, std::size_t count, RowParams params, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(quantize_row_i16)(values, count, params, out);
}
void quantize_row(const float* values, std::size_t count, RowParams params, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(quantize_row_u16)(values, count, params, out);
}

/// The widest vector of any target. HWY_MAX_BYTES is that of the one this part is compiled for.
constexpr std::size_t kWidestVectorBytes = 256;

/// A copy that may be read by whole vectors beyond its end.
template <typename T>
std::vector<T> padded(std::span<const T> values) {
  std::vector<T> out(values.begin(), values.end());
  out.resize(values.size() + kWidestVectorBytes / sizeof(T), T{1});
  return out;
}

/// Channels that lie side by side: each row holds one value of every channel.
template <typename Integer>
void quantize_columns(std::span<const float> values, std::size_t columns,
                      const ChannelParams& params, Integer* out) {
  const auto scales = padded(params.scales);
  const auto zero_points = padded(params.zero_points);
  const RowParams row{scales.data(), zero_points.data(), 1, params.qmin, params.qmax};
  for (std::size_t i = 0; i < values.size(); i += columns)
    quantize_row(values.data() + i, columns, row, out + i);
}

template <typename Integer>
void quantize_channels(std::span<const float> values, Channels channels,
                       const ChannelParams& params, std::span<Integer> out) {
  if (channels.inner == 1) return quantize_columns(values, channels.count, params, out.data());
  std::size_t i = 0;
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (std::size_t c = 0; c < channels.count; ++c, i += channels.inner) {
      quantize_row(values.data() + i, channels.inner,
                   {&params.scales[c], &params.zero_points[c], 0, params.qmin, params.qmax},
                   out.data() + i);
    }
  }
}

/// Blocks along the last axis: the values of one lie together.
template <typename Integer>
void quantize_row_blocks(std::span<const float> values, const Blocks& blocks,
                         const ChannelParams& params, Integer* out) {
  std::size_t i = 0, block = 0;
  for (std::size_t outer = 0; outer < blocks.outer; ++outer) {
    for (std::size_t at = 0; at < blocks.length; at += blocks.size, ++block) {
      const std::size_t size = std::min(blocks.size, blocks.length - at);
      quantize_row(values.data() + i, size,
                   {&params.scales[block], &params.zero_points[block], 0, params.qmin, params.qmax},
                   out + i);
      i += size;
    }
  }
}

template <typename Integer>
void quantize_blocks(std::span<const float> values, const Blocks& blocks,
                     const ChannelParams& params, Integer* out) {
  if (blocks.inner == 1) return quantize_row_blocks(values, blocks, params, out);
  const auto scales = padded(params.scales);
  const auto zero_points = padded(params.zero_points);
  std::size_t i = 0;
  for (std::size_t outer = 0; outer < blocks.outer; ++outer) {
    for (std::size_t at = 0; at < blocks.length; ++at, i += blocks.inner) {
      const std::size_t first = (outer * blocks.per_axis() + at / blocks.size) * blocks.inner;
      quantize_row(values.data() + i, blocks.inner,
                   {scales.data() + first, zero_points.data() + first, 1, params.qmin, params.qmax},
                   out + i);
    }
  }
}

}  // namespace

void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::int8_t> out) {
  quantize_row(values.data(), values.size(), {&scale, &zero_point, 0, qmin, qmax}, out.data());
}
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::uint8_t> out) {
  quantize_row(values.data(), values.size(), {&scale, &zero_point, 0, qmin, qmax}, out.data());
}
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::int16_t> out) {
  quantize_row(values.data(), values.size(), {&scale, &zero_point, 0, qmin, qmax}, out.data());
}
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::uint16_t> out) {
  quantize_row(values.data(), values.size(), {&scale, &zero_point, 0, qmin, qmax}, out.data());
}
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::int8_t> out) {
  quantize_channels(values, channels, params, out);
}
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::uint8_t> out) {
  quantize_channels(values, channels, params, out);
}
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::int16_t> out) {
  quantize_channels(values, channels, params, out);
}
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::uint16_t> out) {
  quantize_channels(values, channels, params, out);
}
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::int8_t> out) {
  quantize_blocks(values, blocks, params, out.data());
}
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::uint8_t> out) {
  quantize_blocks(values, blocks, params, out.data());
}
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::int16_t> out) {
  quantize_blocks(values, blocks, params, out.data());
}
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::uint16_t> out) {
  quantize_blocks(values, blocks, params, out.data());
}

}  // namespace qtool::kernels
#endif
