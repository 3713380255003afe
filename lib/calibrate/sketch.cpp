#include "calibrate/sketch.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"

namespace qtool {
namespace {

using kernels::BitBuckets;
using kernels::BitWindow;

constexpr std::uint64_t kCounterLimit = std::numeric_limits<std::uint32_t>::max();
/// From here on further tables pay for being added up and cleared.
constexpr std::size_t kManyValues = 1U << 13;
constexpr int kLargestOctave = 254;

std::uint32_t* zeroed_counts() {
  auto* out = static_cast<std::uint32_t*>(std::calloc(BitBuckets::kCount, sizeof(std::uint32_t)));
  if (out == nullptr) throw std::bad_alloc();
  return out;
}

bool is_negative(std::uint32_t bucket) {
  return bucket >= BitBuckets::kLow + BitBuckets::kMagnitudes;
}

/// Bits of the magnitudes in a bucket: from `first` to before `end`.
struct MagnitudeBits {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

MagnitudeBits magnitudes_of(std::uint32_t bucket, BitWindow window) {
  const int index = static_cast<int>(bucket) - (is_negative(bucket) ? BitBuckets::kMagnitudes : 0);
  const bool is_coarse = index < BitBuckets::kLow + BitBuckets::kCoarse;
  const int shift = is_coarse ? BitBuckets::kCoarseShift : BitBuckets::kFineShift;
  const int step = index + (is_coarse ? window.coarse_offset() : window.fine_offset());
  return {static_cast<std::uint32_t>(step) << shift, static_cast<std::uint32_t>(step + 1) << shift};
}

/// Where a bucket of one window goes in another with a higher top; 0 where it is low there.
std::uint32_t bucket_in(BitWindow to, std::uint32_t bucket, BitWindow from) {
  if (bucket < BitBuckets::kLow) return 0;
  const auto bits = static_cast<int>(magnitudes_of(bucket, from).first);
  if (bits < to.coarse_floor()) return 0;
  const int index = bits < to.fine_floor() ? (bits >> BitBuckets::kCoarseShift) - to.coarse_offset()
                                           : (bits >> BitBuckets::kFineShift) - to.fine_offset();
  return static_cast<std::uint32_t>(index + (is_negative(bucket) ? BitBuckets::kMagnitudes : 0));
}

/// The least number above all in the bucket.
float upper_end(std::uint32_t bucket, BitWindow window) {
  if (bucket < BitBuckets::kLow)
    return std::bit_cast<float>(static_cast<std::uint32_t>(window.coarse_floor()));
  const MagnitudeBits bits = magnitudes_of(bucket, window);
  return is_negative(bucket) ? -std::bit_cast<float>(bits.first - 1)
                             : std::bit_cast<float>(bits.end);
}

/// The end of the largest bucket of all is where infinity begins.
float magnitude(std::uint32_t bits) {
  const float out = std::bit_cast<float>(bits);
  return std::min(out, std::numeric_limits<float>::max());
}

void append(Density& density, float low, float high, std::uint64_t count) {
  if (count == 0) return;
  const DensityBin bin{std::clamp(low, density.min, density.max),
                       std::clamp(high, density.min, density.max), count};
  density.bins.push_back(bin);
  density.count += count;
}

void append_low(Density& density, float end, std::uint64_t low_count, std::uint64_t zero_count) {
  const std::uint64_t rest = low_count - std::min(low_count, zero_count);
  std::uint64_t negative = rest / 2;
  if (density.min >= 0) negative = 0;
  if (density.max <= 0) negative = rest;
  append(density, -end, 0, negative);
  append(density, 0, 0, std::min(low_count, zero_count));
  append(density, 0, end, rest - negative);
}

}  // namespace

std::uint64_t Sketch::add(std::span<const float> values, float largest) {
  raise(BitBuckets::octave_of(largest));
  std::uint64_t zeros = 0;
  // Pieces that a counter holds, so that none wraps between two calls of reserve().
  while (!values.empty()) {
    const auto piece = values.first(std::min<std::size_t>(values.size(), kCounterLimit / 2));
    reserve(piece.size());
    zeros += piece.size() < kManyValues ? count(piece) : count_in_four_tables(piece);
    values = values.subspan(piece.size());
  }
  return zeros;
}

std::uint64_t Sketch::count(std::span<const float> values) {
  std::uint32_t* const all = counts_.get();
  return kernels::count_bits(values, window_, {{all, all, all, all}});
}

std::uint64_t Sketch::count_in_four_tables(std::span<const float> values) {
  // All zeros between two calls.
  thread_local std::vector<std::uint32_t> more(3 * BitBuckets::kCount);
  std::uint32_t* const second = more.data();
  std::uint32_t* const third = second + BitBuckets::kCount;
  std::uint32_t* const fourth = third + BitBuckets::kCount;
  const kernels::BitTables tables{{counts_.get(), second, third, fourth}};
  const auto zeros = kernels::count_bits(values, window_, tables);
  kernels::join_tables(tables, 0, BitBuckets::kCount);
  return zeros;
}

void Sketch::add_spread(float low, float high, std::uint64_t count) {
  raise(std::max(BitBuckets::octave_of(low), BitBuckets::octave_of(high)));
  const double width = static_cast<double>(high) - static_cast<double>(low);
  std::uint64_t given = 0;
  for (float at = low; given < count;) {
    const std::uint32_t bucket = window_.bucket_of(at);
    const float end = upper_end(bucket, window_);
    const double share =
        end >= high ? 1 : (static_cast<double>(end) - static_cast<double>(low)) / width;
    const auto until =
        share < 1 ? static_cast<std::uint64_t>(share * static_cast<double>(count)) : count;
    if (until > given) add_entry(bucket, until - given);
    given = std::max(given, until);
    at = end;
  }
}

void Sketch::merge(const Sketch& other) {
  if (other.empty()) return;
  raise(other.top());
  for (const SketchEntry& entry : other.entries())
    add_entry(bucket_in(window_, entry.bucket, other.window_), entry.count);
}

/// Makes room for `more` values in the counters.
void Sketch::reserve(std::uint64_t more) {
  if (!counts_) counts_.reset(zeroed_counts());
  if (in_counts_ + more > kCounterLimit) carry();
  in_counts_ += more;
}

void Sketch::carry() {
  carried_.resize(BitBuckets::kCount);
  for (std::size_t i = 0; i < BitBuckets::kCount; ++i) carried_[i] += std::exchange(counts()[i], 0);
  in_counts_ = 0;
}

void Sketch::add_entry(std::uint32_t bucket, std::uint64_t count) {
  if (count > kCounterLimit / 2) {
    carried_.resize(BitBuckets::kCount);
    carried_[bucket] += count;
    return;
  }
  reserve(count);
  counts()[bucket] += static_cast<std::uint32_t>(count);
}

/// Moves the window up to `top`: what was in the lowest octaves becomes coarse, or low.
void Sketch::raise(int top) {
  if (top <= window_.top) return;
  const BitWindow before = window_;
  window_.top = top;
  if (!counts_) return;
  const auto move_all = [&](auto from, auto to) {
    for (std::uint32_t i = 0; i < BitBuckets::kCount; ++i) {
      if (from[i] != 0) to[bucket_in(window_, i, before)] += from[i];
    }
  };
  const Counts old = std::exchange(counts_, Counts(zeroed_counts()));
  move_all(old.get(), counts_.get());
  if (carried_.empty()) return;
  const auto old_carried = std::exchange(carried_, std::vector<std::uint64_t>(BitBuckets::kCount));
  move_all(old_carried.data(), carried_.data());
}

std::vector<SketchEntry> Sketch::entries() const {
  std::vector<SketchEntry> out;
  if (empty()) return out;
  const auto count_in = [this](std::uint32_t bucket) {
    return counts_[bucket] + (carried_.empty() ? 0 : carried_[bucket]);
  };
  std::uint64_t low = 0;
  for (std::uint32_t i = 0; i < BitBuckets::kLow; ++i) low += count_in(i);
  if (low > 0) out.push_back({0, low});
  for (std::uint32_t i = BitBuckets::kLow; i < BitBuckets::kCount; ++i) {
    if (const std::uint64_t count = count_in(i); count > 0) out.push_back({i, count});
  }
  return out;
}

Sketch Sketch::from(int top, std::span<const SketchEntry> entries) {
  const auto refuse = [](const char* what) {
    throw Error(ErrorKind::Input, std::string("sketch: ") + what);
  };
  if (top < BitBuckets::kLeastTop || top > kLargestOctave)
    refuse("has a top octave outside of 24 to 254");
  Sketch out;
  out.raise(top);
  std::uint64_t sum = 0;
  std::int64_t last = -1;
  for (const SketchEntry& entry : entries) {
    const bool is_low = entry.bucket == 0;
    if (entry.bucket >= BitBuckets::kCount || (!is_low && entry.bucket < BitBuckets::kLow))
      refuse("has a bucket that does not exist");
    if (entry.bucket <= last) refuse("has buckets that do not ascend");
    if (entry.count == 0) refuse("has an empty bucket");
    if (entry.count > std::numeric_limits<std::int64_t>::max() - sum)
      refuse("has counts beyond 2^63");
    sum += entry.count;
    last = entry.bucket;
    if (out.empty()) out.reserve(0);
    out.add_entry(entry.bucket, entry.count);
  }
  return out;
}

Density density_of(int top, std::span<const SketchEntry> entries, std::uint64_t zero_count,
                   float min, float max) {
  Density out;
  out.min = min;
  out.max = max;
  const BitWindow window{top};
  const auto is_low = [](const SketchEntry& entry) { return entry.bucket == 0; };
  const auto positive = std::ranges::find_if_not(entries, is_low);
  const auto negative = std::ranges::find_if(
      entries, [](const SketchEntry& entry) { return is_negative(entry.bucket); });
  for (auto entry = entries.end(); entry != negative;) {
    const auto bits = magnitudes_of((--entry)->bucket, window);
    append(out, -magnitude(bits.end), -magnitude(bits.first), entry->count);
  }
  append_low(out, magnitude(static_cast<std::uint32_t>(window.coarse_floor())),
             positive == entries.begin() ? 0 : entries.front().count, zero_count);
  for (auto entry = positive; entry != negative; ++entry) {
    const auto bits = magnitudes_of(entry->bucket, window);
    append(out, magnitude(bits.first), magnitude(bits.end), entry->count);
  }
  return out;
}

}  // namespace qtool
