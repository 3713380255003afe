// Compiled once for each target of Highway; included by bit_counts.cpp alone.
#if defined(QTOOL_KERNELS_BIT_COUNTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_BIT_COUNTS_INL_H
#undef QTOOL_KERNELS_BIT_COUNTS_INL_H
#else
#define QTOOL_KERNELS_BIT_COUNTS_INL_H
#endif

#include <cstring>
#include <utility>

#include <hwy/highway.h>

#include "kernels/bit_counts.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Adds one to each of these buckets, the tables by turns.
inline void count_places(const std::uint32_t* places, std::size_t count, const BitTables& tables) {
  std::uint32_t* const table0 = tables.table[0];
  std::uint32_t* const table1 = tables.table[1];
  std::uint32_t* const table2 = tables.table[2];
  std::uint32_t* const table3 = tables.table[3];
  for (std::size_t i = 0; i < count; i += 4) {
    // Loads are as scarce as stores here: two places come with each.
    std::uint64_t pairs[2];
    std::memcpy(pairs, places + i, sizeof pairs);
    ++table0[pairs[0] & 0xffffffff];
    ++table1[pairs[0] >> 32];
    ++table2[pairs[1] & 0xffffffff];
    ++table3[pairs[1] >> 32];
  }
}

inline std::uint64_t count_bits(const float* values, std::size_t count, BitWindow window,
                                const BitTables& tables) {
  const hn::CappedTag<std::int32_t, BitBuckets::kLow> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr std::size_t kVectors = 4;
  const std::size_t lanes = hn::Lanes(d);
  const auto magnitude = hn::Set(d, 0x7fffffff);
  const auto fine_floor = hn::Set(d, window.fine_floor());
  const auto coarse_floor = hn::Set(d, window.coarse_floor());
  const auto fine_offset = hn::Set(d, window.fine_offset());
  const auto coarse_offset = hn::Set(d, window.coarse_offset());
  const auto negative = hn::Set(d, BitBuckets::kMagnitudes);
  const auto low = hn::Iota(d, 0);
  HWY_ALIGN std::uint32_t places[kVectors * BitBuckets::kLow];
  std::uint64_t zeros = 0;
  const auto locate = [&](const float* at, std::uint32_t* to) HWY_ATTR {
    const auto bits = hn::BitCast(d, hn::LoadU(df, at));
    const auto size = hn::And(bits, magnitude);
    const auto coarse = hn::Sub(hn::ShiftRight<BitBuckets::kCoarseShift>(size), coarse_offset);
    const auto fine = hn::Sub(hn::ShiftRight<BitBuckets::kFineShift>(size), fine_offset);
    const auto index = hn::IfThenElse(hn::Lt(size, fine_floor), coarse, fine);
    const auto placed = hn::Add(index, hn::And(hn::BroadcastSignBit(bits), negative));
    const auto place = hn::IfThenElse(hn::Lt(size, coarse_floor), low, placed);
    zeros += hn::CountTrue(d, hn::Eq(size, hn::Zero(d)));
    const hn::RebindToUnsigned<decltype(d)> du;
    hn::Store(hn::BitCast(du, place), du, to);
  };
  std::size_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    for (std::size_t v = 0; v < kVectors; ++v) locate(values + i + v * lanes, places + v * lanes);
    count_places(places, kVectors * lanes, tables);
  }
  for (; i < count; ++i) {
    ++tables.table[0][window.bucket_of(values[i])];
    zeros += values[i] == 0 ? 1 : 0;
  }
  return zeros;
}

inline void join_tables(const BitTables& tables, std::size_t begin, std::size_t end) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const auto [first, second, third, fourth] = tables.table;
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    const auto sum = hn::Add(hn::LoadU(d, second + i),
                             hn::Add(hn::LoadU(d, third + i), hn::LoadU(d, fourth + i)));
    if (hn::AllTrue(d, hn::Eq(sum, zero))) continue;
    hn::StoreU(hn::Add(hn::LoadU(d, first + i), sum), d, first + i);
    for (std::uint32_t* const other : {second, third, fourth}) hn::StoreU(zero, d, other + i);
  }
  for (; i < end; ++i) {
    for (std::uint32_t* const other : {second, third, fourth})
      first[i] += std::exchange(other[i], 0U);
  }
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
