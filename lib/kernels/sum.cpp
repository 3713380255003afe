#include "kernels/sum.h"

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

}  // namespace qtool::kernels
#endif
