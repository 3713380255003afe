#include "calibrate/sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.h"
#include "catch.h"

namespace qtool {
namespace {

using kernels::BitBuckets;

float largest(std::span<const float> values) {
  float out = 0;
  for (const float value : values) out = std::max(out, std::abs(value));
  return out;
}

Sketch sketch_of(std::span<const float> values) {
  Sketch out;
  out.add(values, largest(values));
  return out;
}

/// Over 40 octaves, of both signs, with zeros.
std::vector<float> wide_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto mantissa = static_cast<float>(static_cast<std::int32_t>(random()));
    const auto value = std::ldexp(mantissa, -20 - static_cast<int>(random() % 40));
    out.push_back(random() % 7 == 0 ? 0.0F : value);
  }
  return out;
}

Density density(const std::vector<float>& values) {
  const Sketch sketch = sketch_of(values);
  const auto [min, max] = std::ranges::minmax(values);
  const auto zeros = static_cast<std::uint64_t>(std::ranges::count(values, 0.0F));
  return density_of(sketch.top(), sketch.entries(), zeros, min, max);
}

}  // namespace

TEST_CASE("a sketch is the same however its values came", "[calibrate]") {
  const auto values = wide_values(70000, 3);  // enough for four tables
  const std::span<const float> all(values);
  const Sketch whole = sketch_of(all);
  for (const std::size_t piece : {13, 1000, 69999}) {
    CAPTURE(piece);
    Sketch one_by_one;
    Sketch merged;
    for (std::size_t i = 0; i < all.size(); i += piece) {
      const auto part = all.subspan(i, std::min(piece, all.size() - i));
      one_by_one.add(part, largest(part));
      merged.merge(sketch_of(part));
    }
    CHECK(one_by_one == whole);
    CHECK(merged == whole);
  }
  Sketch backwards;
  for (std::size_t i = all.size(); i-- > 0;) backwards.add(all.subspan(i, 1), std::abs(all[i]));
  CHECK(backwards == whole);
}

TEST_CASE("a sketch counts every value once, in an interval that holds it", "[calibrate]") {
  auto values = wide_values(20000, 5);
  const Density found = density(values);
  CHECK(found.count == values.size());
  std::ranges::sort(values);
  std::size_t below = 0;
  float last = -std::numeric_limits<float>::infinity();
  for (const DensityBin& bin : found.bins) {
    REQUIRE(bin.low >= last);
    REQUIRE(bin.high >= bin.low);
    last = bin.high;
    below += bin.count;
    const bool is_low = std::abs(bin.low + bin.high) < std::ldexp(found.max, -22);
    if (!is_low)
      REQUIRE(bin.high - bin.low <= 0.0079F * std::max(std::abs(bin.low), std::abs(bin.high)));
    if (below < values.size() && !is_low) {
      CHECK(values[below - 1] <= bin.high);
      CHECK(values[below] >= bin.high);
    }
  }
}

TEST_CASE("the upper octaves of a sketch are as fine as a thousandth of the range", "[calibrate]") {
  std::vector<float> values;
  for (int i = 1; i <= 10000; ++i) values.push_back(static_cast<float>(i) / 10000.0F);
  for (const DensityBin& bin : density(values).bins) CHECK(bin.high - bin.low <= 1.0F / 1024);
}

TEST_CASE("zeros and the values around them are kept apart", "[calibrate]") {
  const Density found = density({0.0F, -0.0F, 1e-30F, -1e-30F, 1e-31F, 1.0F, 3.0F});
  REQUIRE(found.bins.size() == 5);
  CHECK(found.bins[0].count == 1);
  CHECK(found.bins[0].high == 0);
  CHECK(found.bins[1] == DensityBin{0, 0, 2});
  CHECK(found.bins[2].low == 0);
  CHECK(found.bins[2].count == 2);
  CHECK(found.bins[4].high == 3);
}

TEST_CASE("the largest and the least floats have buckets", "[calibrate]") {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const Density huge = density({kMost, -kMost, kLeast});
  CHECK(huge.bins.front().low == -kMost);
  CHECK(huge.bins.back().high == kMost);
  CHECK(huge.count == 3);
  const Density tiny = density({kLeast, 3 * kLeast});
  CHECK(tiny.count == 2);
  CHECK(tiny.bins.back().high == 3 * kLeast);
}

TEST_CASE("a sketch goes through its entries and back", "[calibrate]") {
  const Sketch sketch = sketch_of(wide_values(3000, 9));
  CHECK(Sketch::from(sketch.top(), sketch.entries()) == sketch);
}

TEST_CASE("counts beyond 32 bits are kept", "[calibrate]") {
  const std::uint64_t many = std::uint64_t{5} << 32;
  const std::uint64_t half = std::uint64_t{1} << 31;
  const auto bucket = static_cast<std::uint32_t>(BitBuckets::kLow + BitBuckets::kCoarse);
  Sketch sum = Sketch::from(130, std::vector<SketchEntry>{{bucket, many}});
  for (int i = 0; i < 6; ++i)
    sum.merge(Sketch::from(130, std::vector<SketchEntry>{{bucket, half}}));
  CHECK(sum.entries() == std::vector<SketchEntry>{{bucket, many + 6 * half}});
  sum.merge(sketch_of(std::vector<float>{1024.0F}));
  const auto entries = sum.entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].count == many + 6 * half);
}

TEST_CASE("entries that no sketch has are refused", "[calibrate]") {
  using Entries = std::vector<SketchEntry>;
  CHECK_THROWS_AS(Sketch::from(3, Entries{}), Error);
  CHECK_THROWS_AS(Sketch::from(255, Entries{}), Error);
  CHECK_THROWS_AS(Sketch::from(130, Entries{{5, 1}}), Error);
  CHECK_THROWS_AS(Sketch::from(130, Entries{{BitBuckets::kCount, 1}}), Error);
  CHECK_THROWS_AS(Sketch::from(130, Entries{{20, 1}, {20, 1}}), Error);
  CHECK_THROWS_AS(Sketch::from(130, Entries{{20, 0}}), Error);
  CHECK_THROWS_AS(Sketch::from(130, Entries{{20, ~std::uint64_t{0}}}), Error);
}

TEST_CASE("a spread counts in each bucket between its ends", "[calibrate]") {
  Sketch spread;
  spread.add_spread(-1, 3, 4000);
  std::vector<float> even;
  for (int i = 0; i < 4000; ++i) even.push_back(-1 + 0.001F * (static_cast<float>(i) + 0.5F));
  const auto counted = [](const Sketch& sketch, float from, float to) {
    double out = 0;
    for (const DensityBin& bin : density_of(sketch.top(), sketch.entries(), 0, -1, 3).bins) {
      if (bin.low >= from && bin.high <= to) out += static_cast<double>(bin.count);
    }
    return out;
  };
  const Sketch wanted = sketch_of(even);
  for (const auto& [from, to] :
       {std::pair(-1.0F, -0.5F), {-0.5F, 0.0F}, {0.0F, 1.0F}, {1.0F, 3.0F}})
    CHECK(counted(spread, from, to) == Approx(counted(wanted, from, to)).margin(20));
  CHECK(counted(spread, -1, 3) == 4000);
}

TEST_CASE("a spread of one value is that value", "[calibrate]") {
  for (const float value : {-7.5F, 0.0F, 1e-38F, 3.4e38F}) {
    CAPTURE(value);
    Sketch spread;
    spread.add_spread(value, value, 5);
    const std::vector<float> same(5, value);
    CHECK(spread.entries().size() == 1);
    CHECK(spread == sketch_of(same));
  }
}

}  // namespace qtool
