#pragma once

#include <array>
#include <cstdint>

namespace qtool {

/// A sum of finite numbers without any rounding, so that it depends neither on their order nor on
/// how they were grouped.
class ExactSum {
 public:
  static constexpr int kLimbs = 67;
  /// Limb k counts multiples of 2^(32 k - 1074), the smallest denormal of float64 being 2^-1074.
  using Limbs = std::array<std::int64_t, kLimbs>;

  ExactSum() = default;
  explicit ExactSum(const Limbs& limbs) : limbs_(limbs) {}

  void add(double value);
  void add(const ExactSum& other);
  /// The sum rounded to float64, within one unit in the last place.
  double value() const;
  /// Every limb but the last in [0, 2^32): equal sums have equal limbs.
  Limbs normalized() const;

  friend bool operator==(const ExactSum& a, const ExactSum& b) {
    return a.normalized() == b.normalized();
  }

 private:
  /// An addition changes a limb by less than 2^33, so that 2^30 of them fit.
  Limbs limbs_{};
};

}  // namespace qtool
