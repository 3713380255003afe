#pragma once

#include <cstdint>
#include <span>

namespace qtool::kernels {

/// Every float16 code as the float32 of the same value; the bits of a NaN move along. `out` is as
/// long as `codes`.
void widen_float16(std::span<const std::uint16_t> codes, std::span<float> out);

/// The float16 number nearest to `value`, half to even; infinite from 65520 on.
double round_to_float16(double value);

}  // namespace qtool::kernels
