#include "kernels/pack_nibbles.h"

#define HWY_TARGET_INCLUDE "kernels/pack_nibbles_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pack_nibbles_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(pack_nibbles);

}  // namespace

void pack_nibbles(std::span<const std::uint8_t> codes, std::span<std::uint8_t> out) {
  HWY_DYNAMIC_DISPATCH(pack_nibbles)(codes.data(), codes.size(), out.data());
}

}  // namespace qtool::kernels
#endif
