#include "kernels/sum.h"

#include <algorithm>

#define HWY_TARGET_INCLUDE "kernels/sum_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/sum_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(sum);

}  // namespace

double sum(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(sum)(values.data(), values.size());
}

void sum_per_channel(std::span<const float> values, Channels channels, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const float* piece = values.data();
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (double& channel : out) {
      channel += channels.inner == 1 ? static_cast<double>(*piece)
                                     : HWY_DYNAMIC_DISPATCH(sum)(piece, channels.inner);
      piece += channels.inner;
    }
  }
}

}  // namespace qtool::kernels
#endif
