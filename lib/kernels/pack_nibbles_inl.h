// Compiled once for each target of Highway; included by pack_nibbles.cpp alone.
#if defined(QTOOL_KERNELS_PACK_NIBBLES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_PACK_NIBBLES_INL_H
#undef QTOOL_KERNELS_PACK_NIBBLES_INL_H
#else
#define QTOOL_KERNELS_PACK_NIBBLES_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline void pack_nibbles(const std::uint8_t* codes, std::size_t count, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto nibble = hn::Set(d, 0x0F);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    auto even = nibble, odd = nibble;
    hn::LoadInterleaved2(d, codes + i, even, odd);
    hn::StoreU(hn::Or(hn::And(even, nibble), hn::ShiftLeft<4>(odd)), d, out + i / 2);
  }
  for (; i < count; i += 2) {
    const unsigned second = i + 1 < count ? codes[i + 1] & 0x0FU : 0U;
    out[i / 2] = static_cast<std::uint8_t>((codes[i] & 0x0FU) | second << 4U);
  }
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
