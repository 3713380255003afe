#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qtool {

/// Several sums of numbers, each a multiple of 2^-`fraction_bits` in 128 bits: adding is exact, so
/// that they depend neither on the order of what is added nor on how it was grouped.
class FixedSums {
 public:
  explicit FixedSums(int fraction_bits) : fraction_bits_(fraction_bits) {}

  std::size_t size() const { return sums_.size(); }
  bool empty() const { return sums_.empty(); }
  void resize(std::size_t size) { sums_.resize(size); }

  /// Whether all numbers are finite and small enough for 2^7 of them to fit into a sum; larger ones
  /// come from values that no float model has.
  bool takes(std::span<const double> numbers) const;
  /// Adds one number to each sum, rounded to a multiple of the unit.
  void add(std::span<const double> numbers);
  void add(const FixedSums& other);
  std::vector<double> values() const;

  /// A sum in two halves.
  struct Words {
    std::int64_t high = 0;
    std::uint64_t low = 0;
  };
  std::vector<Words> words() const;
  static FixedSums from(std::span<const Words> words, int fraction_bits);

  friend bool operator==(const FixedSums& a, const FixedSums& b) { return a.sums_ == b.sums_; }

 private:
  __extension__ using Int128 = __int128;
  __extension__ using UInt128 = unsigned __int128;

  int fraction_bits_;
  std::vector<Int128> sums_;
};

}  // namespace qtool
