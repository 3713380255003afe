#include "kernels/bit_counts.h"

#define HWY_TARGET_INCLUDE "kernels/bit_counts_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/bit_counts_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(count_bits);
HWY_EXPORT(join_tables);

}  // namespace

std::uint64_t count_bits(std::span<const float> values, BitWindow window, const BitTables& tables) {
  return HWY_DYNAMIC_DISPATCH(count_bits)(values.data(), values.size(), window, tables);
}

void join_tables(const BitTables& tables, std::size_t begin, std::size_t end) {
  HWY_DYNAMIC_DISPATCH(join_tables)(tables, begin, end);
}

}  // namespace qtool::kernels
#endif
