#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace qtool::kernels {

/// Buckets of float32 values by their own bits: sign, exponent and leading bits of the mantissa.
/// An octave holds the magnitudes from 2^k up to 2^(k+1) and is named by its exponent field. The
/// `top` octave and three below are cut into 512 buckets each, as fine as 1024 even steps from 0 to
/// the largest value, and twenty more into 128, which is 0.8 % of the value or less. What is
/// smaller yet is low: beneath the step of any 16-bit quantization of the tensor.
struct BitBuckets {
  static constexpr int kFineOctaves = 4;
  static constexpr int kFineShift = 14;  ///< leaves 9 bits of the mantissa
  static constexpr int kCoarseOctaves = 20;
  static constexpr int kCoarseShift = 16;  ///< leaves 7
  static constexpr int kOctaves = kFineOctaves + kCoarseOctaves;
  static constexpr int kMantissaBits = 23;
  static constexpr int kFinePerOctave = 1 << (kMantissaBits - kFineShift);
  static constexpr int kCoarsePerOctave = 1 << (kMantissaBits - kCoarseShift);
  /// Equal values one after the other would each wait for the last to be stored; low ones, most
  /// often the zeros of a Relu, are therefore counted in one of several places.
  static constexpr int kLow = 16;
  static constexpr int kCoarse = kCoarseOctaves * kCoarsePerOctave;
  static constexpr int kMagnitudes = kCoarse + kFineOctaves * kFinePerOctave;
  static constexpr std::size_t kCount = kLow + 2 * kMagnitudes;
  /// The least top, so that no octave of the window is below the first.
  static constexpr int kLeastTop = kOctaves;

  static std::uint32_t magnitude_bits(float value) {
    return std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
  }
  static int octave_of(float value) {
    return static_cast<int>(magnitude_bits(value) >> kMantissaBits);
  }
};

/// The buckets of one `top` as numbers: low first, then positive magnitudes ascending, then
/// negative ones.
struct BitWindow {
  int top = BitBuckets::kLeastTop;

  constexpr int fine_floor() const {
    return (top - BitBuckets::kFineOctaves + 1) << BitBuckets::kMantissaBits;
  }
  constexpr int coarse_floor() const {
    return (top - BitBuckets::kOctaves + 1) << BitBuckets::kMantissaBits;
  }
  /// Index of a positive magnitude = its bits shifted right, less one of these.
  constexpr int coarse_offset() const {
    return (coarse_floor() >> BitBuckets::kCoarseShift) - BitBuckets::kLow;
  }
  constexpr int fine_offset() const {
    return (fine_floor() >> BitBuckets::kFineShift) - BitBuckets::kLow - BitBuckets::kCoarse;
  }

  /// The bucket of a finite value with no octave above `top`; 0 where it is low.
  std::uint32_t bucket_of(float value) const {
    const auto bits = static_cast<int>(BitBuckets::magnitude_bits(value));
    if (bits < coarse_floor()) return 0;
    const int index = bits < fine_floor() ? (bits >> BitBuckets::kCoarseShift) - coarse_offset()
                                          : (bits >> BitBuckets::kFineShift) - fine_offset();
    return static_cast<std::uint32_t>(value < 0 ? index + BitBuckets::kMagnitudes : index);
  }
};

/// Where values are counted: value i in one of the tables. Several tables, whose sum counts, keep
/// an increment from waiting for the one before where that hit the same bucket; one may stand for
/// all.
struct BitTables {
  static constexpr std::size_t kTables = 4;
  std::array<std::uint32_t*, kTables> table;  ///< of BitBuckets::kCount each
};

/// Counts each value in its bucket of `window`. All values are finite and none has an octave above
/// the window's top. Counters wrap at 2^32. The sum over the low buckets is defined, which of them
/// a value falls into is not. Returns how many values are zeros, of either sign.
std::uint64_t count_bits(std::span<const float> values, BitWindow window, const BitTables& tables);

/// Adds the counts [begin, end) of the other tables to the first and sets them to 0 there. Where
/// they are 0 the first is not written.
void join_tables(const BitTables& tables, std::size_t begin, std::size_t end);

}  // namespace qtool::kernels
