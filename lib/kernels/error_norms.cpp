#include "kernels/error_norms.h"

#define HWY_TARGET_INCLUDE "kernels/error_norms_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/error_norms_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(error_norms_f32);
HWY_EXPORT(error_norms_f64);

}  // namespace

ErrorNorms error_norms(std::span<const float> reference, std::span<const float> other) {
  return HWY_DYNAMIC_DISPATCH(error_norms_f32)(reference.data(), other.data(), reference.size());
}

ErrorNorms error_norms(std::span<const double> reference, std::span<const double> other) {
  return HWY_DYNAMIC_DISPATCH(error_norms_f64)(reference.data(), other.data(), reference.size());
}

}  // namespace qtool::kernels
#endif
