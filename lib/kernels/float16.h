#pragma once

#include <cstdint>
#include <span>

namespace qtool::kernels {

/// Every float16 code as the float32 of the same value; the bits of a NaN move along. `out` is as
/// long as `codes`.
void widen_float16(std::span<const std::uint16_t> codes, std::span<float> out);

/// Every float32 value as the code of the nearest float16 number, half to even: infinite from 65520
/// on. A NaN becomes the quiet one of its sign. `out` is as long as `values`.
void narrow_to_float16(std::span<const float> values, std::span<std::uint16_t> out);

/// The same for bfloat16, which has float32's exponents.
void narrow_to_bfloat16(std::span<const float> values, std::span<std::uint16_t> out);

/// The float16 number nearest to `value`, half to even; infinite from 65520 on.
double round_to_float16(double value);

}  // namespace qtool::kernels
