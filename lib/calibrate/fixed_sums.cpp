#include "calibrate/fixed_sums.h"

#include <algorithm>
#include <cmath>

namespace qtool {
namespace {

constexpr int kMagnitudeBits = 120;

}  // namespace

bool FixedSums::takes(std::span<const double> numbers) const {
  const double limit = std::ldexp(1.0, kMagnitudeBits - fraction_bits_);
  return std::ranges::all_of(numbers, [&](double number) { return std::abs(number) < limit; });
}

void FixedSums::add(std::span<const double> numbers) {
  const double scale = std::ldexp(1.0, fraction_bits_);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const auto units = static_cast<Int128>(std::nearbyint(numbers[i] * scale));
    sums_[i] = static_cast<Int128>(static_cast<UInt128>(sums_[i]) + static_cast<UInt128>(units));
  }
}

void FixedSums::add(const FixedSums& other) {
  // Without a sign, where sums that a table made up would overflow.
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] =
        static_cast<Int128>(static_cast<UInt128>(sums_[i]) + static_cast<UInt128>(other.sums_[i]));
  }
}

std::vector<double> FixedSums::values() const {
  const double unit = std::ldexp(1.0, -fraction_bits_);
  std::vector<double> out;
  out.reserve(sums_.size());
  for (const Int128 sum : sums_) out.push_back(static_cast<double>(sum) * unit);
  return out;
}

std::vector<FixedSums::Words> FixedSums::words() const {
  std::vector<Words> out;
  out.reserve(sums_.size());
  for (const Int128 sum : sums_)
    out.push_back({static_cast<std::int64_t>(sum >> 64), static_cast<std::uint64_t>(sum)});
  return out;
}

FixedSums FixedSums::from(std::span<const Words> words, int fraction_bits) {
  FixedSums out(fraction_bits);
  out.sums_.reserve(words.size());
  for (const Words& word : words) {
    out.sums_.push_back(
        static_cast<Int128>(static_cast<UInt128>(static_cast<Int128>(word.high)) << 64 | word.low));
  }
  return out;
}

}  // namespace qtool
