#pragma once

#include <cstdint>
#include <span>

namespace qtool::kernels {

/// The low four bits of each code, two to a byte: code 2i in the low nibble of byte i, code 2i + 1
/// in its high one, which is 0 where there is none. `out` has half as many bytes, rounded up.
void pack_nibbles(std::span<const std::uint8_t> codes, std::span<std::uint8_t> out);

}  // namespace qtool::kernels
