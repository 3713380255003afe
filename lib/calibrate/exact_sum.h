#pragma once

#include <array>
#include <cstdint>

namespace qtool {

/// A sum of finite floats without any rounding, so that it depends neither on their order nor on
/// how they were grouped.
class ExactSum {
 public:
  void add(float value);
  void add(const ExactSum& other);
  /// The sum rounded to float64 once, within one unit in the last place.
  double value() const;

  friend bool operator==(const ExactSum& a, const ExactSum& b) {
    return a.normalized() == b.normalized();
  }

 private:
  static constexpr int kLimbs = 10;
  using Limbs = std::array<std::int64_t, kLimbs>;

  Limbs normalized() const;

  /// Limb k counts multiples of 2^(32 k - 149), the smallest denormal being 2^-149. An addition
  /// changes a limb by less than 2^32, so that 2^31 of them fit.
  Limbs limbs_{};
};

}  // namespace qtool
