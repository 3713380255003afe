#include "kernels/bit_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

/// The definition, from the logarithm and not from bits; 0 for all low ones.
std::size_t bucket_of(float value, int top) {
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::abs(value), &exponent);  // [0.5, 1) x 2^exponent
  const int below_top = top - 127 - (exponent - 1);
  if (below_top >= BitBuckets::kOctaves) return 0;
  const auto step = [&](int per_octave) {
    return static_cast<std::size_t>((fraction * 2 - 1) * static_cast<float>(per_octave));
  };
  std::size_t out = BitBuckets::kLow;
  if (below_top >= BitBuckets::kFineOctaves) {
    const int octave = BitBuckets::kOctaves - 1 - below_top;
    out += static_cast<std::size_t>(octave) * BitBuckets::kCoarsePerOctave +
           step(BitBuckets::kCoarsePerOctave);
  } else {
    const int octave = BitBuckets::kFineOctaves - 1 - below_top;
    out += BitBuckets::kCoarse + static_cast<std::size_t>(octave) * BitBuckets::kFinePerOctave +
           step(BitBuckets::kFinePerOctave);
  }
  return value < 0 ? out + BitBuckets::kMagnitudes : out;
}

std::vector<std::uint32_t> joined_low(std::vector<std::uint32_t> counts) {
  const auto low = counts.begin() + BitBuckets::kLow;
  const std::uint32_t sum = std::accumulate(counts.begin(), low, 0U);
  std::fill(counts.begin(), low, 0U);
  counts[0] = sum;
  return counts;
}

BitTables one_table(std::vector<std::uint32_t>& counts) {
  return {{counts.data(), counts.data(), counts.data(), counts.data()}};
}

std::vector<std::uint32_t> counted_in_four(std::span<const float> values, int top) {
  std::vector<std::vector<std::uint32_t>> all(4, std::vector<std::uint32_t>(BitBuckets::kCount));
  const BitTables tables{{all[0].data(), all[1].data(), all[2].data(), all[3].data()}};
  count_bits(values, BitWindow{top}, tables);
  join_tables(tables, 0, BitBuckets::kCount);
  for (std::size_t i = 1; i < all.size(); ++i)
    CHECK(all[i] == std::vector<std::uint32_t>(BitBuckets::kCount));
  return all[0];
}

}  // namespace

TEST_CASE("bit counts: every value falls into the bucket of its magnitude and sign", "[kernels]") {
  for_each_target([] {
    for (const int top : {254, 139, 130}) {
      for (const std::size_t length : lengths()) {
        CAPTURE(top, length);
        std::vector<float> values;
        for (const float value :
             test_values(length, Values::WithSpecial, static_cast<std::uint32_t>(length))) {
          if (std::isfinite(value) && BitBuckets::octave_of(value) <= top) values.push_back(value);
        }
        std::vector<std::uint32_t> expected(BitBuckets::kCount);
        for (const float value : values) ++expected[bucket_of(value, top)];
        std::vector<std::uint32_t> counts(BitBuckets::kCount);
        const auto zeros = count_bits(values, BitWindow{top}, one_table(counts));
        REQUIRE(joined_low(counts) == expected);
        REQUIRE(zeros == static_cast<std::uint64_t>(std::ranges::count(values, 0.0F)));
        REQUIRE(joined_low(counted_in_four(values, top)) == expected);
      }
    }
  });
}

TEST_CASE("bit counts: a second call adds to the first", "[kernels]") {
  std::vector<std::uint32_t> counts(BitBuckets::kCount);
  const std::vector<float> values(100, 1.0F);
  count_bits(values, BitWindow{127}, one_table(counts));
  count_bits(values, BitWindow{127}, one_table(counts));
  CHECK(counts[bucket_of(1.0F, 127)] == 200);
  CHECK(std::accumulate(counts.begin(), counts.end(), 0U) == 200);
}

}  // namespace qtool::kernels
