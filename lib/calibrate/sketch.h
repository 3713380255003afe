#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "calibrate/density.h"
#include "kernels/bit_counts.h"

namespace qtool {

/// A bucket of a sketch that holds values.
struct SketchEntry {
  std::uint32_t bucket = 0;  ///< index into the window of kernels/bit_counts.h; 0: all low ones
  std::uint64_t count = 0;
  friend bool operator==(const SketchEntry&, const SketchEntry&) = default;
};

/// How often each value occurs, up to 0.4 % of the value (0.1 % in the upper four octaves),
/// without knowing the range beforehand: values are counted by their own leading bits. Takes 37 KB
/// at most, less where values have one sign. Merging is commutative and associative to the bit.
class Sketch {
 public:
  /// Finite values, none of a magnitude above `largest`; returns how many are zeros.
  std::uint64_t add(std::span<const float> values, float largest);
  /// Values that are spread evenly from `low` to `high`, which are finite: each bucket between gets
  /// its part, rounded so that all are counted.
  void add_spread(float low, float high, std::uint64_t count);
  void merge(const Sketch& other);

  bool empty() const { return counts_ == nullptr; }
  /// The exponent field of the largest magnitude seen, at least that of the least window.
  int top() const { return window_.top; }
  /// Ascending by bucket, none empty.
  std::vector<SketchEntry> entries() const;
  /// The sketch that has these entries. `Input` error where no sketch could have them.
  static Sketch from(int top, std::span<const SketchEntry> entries);

  friend bool operator==(const Sketch& a, const Sketch& b) {
    return a.top() == b.top() && a.entries() == b.entries();
  }

 private:
  struct Free {
    void operator()(std::uint32_t* memory) const { std::free(memory); }
  };
  /// Pages that no value falls into are never touched, and so take no memory.
  using Counts = std::unique_ptr<std::uint32_t[], Free>;

  std::uint64_t count(std::span<const float> values);
  std::uint64_t count_in_four_tables(std::span<const float> values);
  void reserve(std::uint64_t more);
  void raise(int top);
  std::span<std::uint32_t> counts() { return {counts_.get(), kernels::BitBuckets::kCount}; }
  void carry();
  void add_entry(std::uint32_t bucket, std::uint64_t count);

  kernels::BitWindow window_;
  Counts counts_;
  std::uint64_t in_counts_ = 0;  ///< sum of counts_, below 2^32
  /// What no longer fits into 32 bits; empty until a tensor has had that many values.
  std::vector<std::uint64_t> carried_;
};

/// The values that entries of a sketch with this `top` stand for, with what is known exactly:
/// `zero_count` of the low ones are 0, none lies outside [min, max].
Density density_of(int top, std::span<const SketchEntry> entries, std::uint64_t zero_count,
                   float min, float max);

}  // namespace qtool
