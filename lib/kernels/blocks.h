#pragma once

#include <cstddef>

namespace qtool::kernels {

/// How blocks of up to `size` neighbours along an axis lie in a row-major tensor: `outer` times
/// `length` places on the axis of `inner` values each. Blocks are numbered row by row too: `outer`
/// times `per_axis()` of `inner`.
struct Blocks {
  std::size_t outer = 1;
  std::size_t length = 1;
  std::size_t inner = 1;
  std::size_t size = 1;

  /// The last block along the axis may be shorter.
  std::size_t per_axis() const { return length == 0 ? 0 : (length - 1) / size + 1; }
  std::size_t count() const { return outer * per_axis() * inner; }
};

}  // namespace qtool::kernels
