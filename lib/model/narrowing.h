#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/element_type.h"

namespace qtool {

/// How float32 values become values of a 16-bit type. Infinities and NaN stay what they are.
struct Narrowing {
  ElementType type = ElementType::Float16;  ///< float16 or bfloat16
  double min_positive = 0;                  ///< nearer to zero, but not zero, becomes this
  double max_finite = 0;                    ///< farther from zero becomes this; 0: no limit
};

/// Bytes that the values behind `source_bytes` of float32 take after it.
std::size_t narrowed_bytes(std::size_t source_bytes);

/// `source` (float32 at any address) as values of the narrower type, rounded half to even.
std::vector<std::byte> narrow(std::span<const std::byte> source, const Narrowing& narrowing);

/// The same piece by piece, for tensors that should not be in memory as a whole.
void narrow_in_pieces(std::span<const std::byte> source, const Narrowing& narrowing,
                      const std::function<void(std::span<const std::byte>)>& sink);

/// How many values of a tensor a narrowing moves beyond rounding.
struct ClampedValues {
  std::size_t above = 0;  ///< larger than `max_finite`
  std::size_t below = 0;  ///< smaller than `min_positive`, but not zero
  double largest = 0;     ///< the largest finite size of a value
};
ClampedValues clamped_values(std::span<const std::byte> source, const Narrowing& narrowing);

}  // namespace qtool
