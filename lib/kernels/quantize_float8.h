#pragma once

#include <cstdint>
#include <span>

#include "kernels/channels.h"

namespace qtool::kernels {

/// The type that a quotient is rounded to before it becomes float8.
enum class Quotient { Float32, Float16 };

/// value / scale as a code of float8e4m3fn, as ONNX's QuantizeLinear: half to even, saturated at
/// 448. NaN becomes 0, so that no code stands for NaN. `out` is as long as `values`.
void quantize_float8(std::span<const float> values, float scale, Quotient quotient,
                     std::span<std::uint8_t> out);

/// `quantize_float8` of every channel by its own scale.
void quantize_float8_per_channel(std::span<const float> values, Channels channels,
                                 std::span<const float> scales, Quotient quotient,
                                 std::span<std::uint8_t> out);

}  // namespace qtool::kernels
