#pragma once

#include <cstdint>
#include <span>

#include "kernels/blocks.h"
#include "kernels/channels.h"

namespace qtool::kernels {

/// out = clamp(rint(value / scale) + zero_point, qmin, qmax), as ONNX's QuantizeLinear: division in
/// float32, half to even. NaN becomes the zero point. `qmin` and `qmax` lie within out's type;
/// `out` is as long as `values`.
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::int8_t> out);
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::uint8_t> out);
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::int16_t> out);
void quantize_linear(std::span<const float> values, float scale, std::int32_t zero_point,
                     std::int32_t qmin, std::int32_t qmax, std::span<std::uint16_t> out);

/// A scale and a zero point for each channel or block, and the ends of the integers for all.
struct ChannelParams {
  std::span<const float> scales;
  std::span<const std::int32_t> zero_points;
  std::int32_t qmin = 0;
  std::int32_t qmax = 0;
};

/// `quantize_linear` of every channel by its own scale and zero point.
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::int8_t> out);
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::uint8_t> out);
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::int16_t> out);
void quantize_linear_per_channel(std::span<const float> values, Channels channels,
                                 const ChannelParams& params, std::span<std::uint16_t> out);

/// `quantize_linear` of every block by its own scale and zero point.
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::int8_t> out);
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::uint8_t> out);
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::int16_t> out);
void quantize_linear_per_block(std::span<const float> values, const Blocks& blocks,
                               const ChannelParams& params, std::span<std::uint16_t> out);

}  // namespace qtool::kernels
