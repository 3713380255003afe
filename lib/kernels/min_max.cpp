#include "kernels/min_max.h"

#include <algorithm>

#define HWY_TARGET_INCLUDE "kernels/min_max_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/min_max_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(min_max);
HWY_EXPORT(min_max_per_column);

void merge(MinMax& into, const MinMax& other) {
  if (other.finite_count > 0) {
    const bool is_first = into.finite_count == 0;
    into.min = is_first ? other.min : std::min(into.min, other.min);
    into.max = is_first ? other.max : std::max(into.max, other.max);
  }
  into.finite_count += other.finite_count;
  into.nonfinite_count += other.nonfinite_count;
}

}  // namespace

MinMax min_max(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(min_max)(values.data(), values.size());
}

void min_max_per_channel(std::span<const float> values, Channels channels, std::span<MinMax> out) {
  if (channels.inner == 1) {
    HWY_DYNAMIC_DISPATCH(min_max_per_column)
    (values.data(), channels.outer, channels.count, out.data());
    return;
  }
  std::fill(out.begin(), out.end(), MinMax{});
  const float* piece = values.data();
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (MinMax& channel : out) {
      merge(channel, HWY_DYNAMIC_DISPATCH(min_max)(piece, channels.inner));
      piece += channels.inner;
    }
  }
}

void min_max_per_block(std::span<const float> values, Blocks blocks, std::span<MinMax> out) {
  const float* piece = values.data();
  MinMax* each = out.data();
  for (std::size_t outer = 0; outer < blocks.outer; ++outer) {
    for (std::size_t at = 0; at < blocks.length; at += blocks.size) {
      const std::size_t rows = std::min(blocks.size, blocks.length - at);
      if (blocks.inner == 1)
        *each = HWY_DYNAMIC_DISPATCH(min_max)(piece, rows);
      else
        HWY_DYNAMIC_DISPATCH(min_max_per_column)(piece, rows, blocks.inner, each);
      piece += rows * blocks.inner;
      each += blocks.inner;
    }
  }
}

}  // namespace qtool::kernels
#endif
