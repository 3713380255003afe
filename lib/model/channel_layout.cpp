#include "model/channel_layout.h"

#include <cstddef>

namespace qtool {
namespace {

std::size_t product(std::span<const std::int64_t> sizes) {
  std::size_t out = 1;
  for (const std::int64_t size : sizes) out *= static_cast<std::size_t>(size);
  return out;
}

}  // namespace

std::optional<kernels::Channels> channel_layout(std::span<const std::int64_t> shape,
                                                std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= rank) return std::nullopt;
  const auto at = static_cast<std::size_t>(from_front);
  return kernels::Channels{.outer = product(shape.first(at)),
                           .count = static_cast<std::size_t>(shape[at]),
                           .inner = product(shape.subspan(at + 1))};
}

}  // namespace qtool
