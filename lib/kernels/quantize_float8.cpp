#include "kernels/quantize_float8.h"

#define HWY_TARGET_INCLUDE "kernels/quantize_float8_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/quantize_float8_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(quantize_float8);

}  // namespace

void quantize_float8(std::span<const float> values, float scale, Quotient quotient,
                     std::span<std::uint8_t> out) {
  HWY_DYNAMIC_DISPATCH(quantize_float8)
  (values.data(), values.size(), scale, quotient, out.data());
}

void quantize_float8_per_channel(std::span<const float> values, Channels channels,
                                 std::span<const float> scales, Quotient quotient,
                                 std::span<std::uint8_t> out) {
  std::size_t i = 0;
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (std::size_t c = 0; c < channels.count; ++c, i += channels.inner)
      quantize_float8(values.subspan(i, channels.inner), scales[c], quotient,
                      out.subspan(i, channels.inner));
  }
}

}  // namespace qtool::kernels
#endif
