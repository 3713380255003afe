#pragma once

#include <cstddef>

namespace qtool::kernels {

/// How the channels of a row-major tensor lie in memory: `outer` times `count` channels of `inner`
/// neighbours each. For axis `a`: the product of the sizes before it, its size, and the product of
/// the sizes behind it.
struct Channels {
  std::size_t outer = 1;
  std::size_t count = 1;
  std::size_t inner = 1;
};

}  // namespace qtool::kernels
