#include "calibrate/exact_sum.h"

#include <cmath>

namespace qtool {
namespace {

constexpr int kSmallestExponent = -149;
constexpr int kMantissaBits = 24;
constexpr std::int64_t kLimb = std::int64_t{1} << 32;

}  // namespace

void ExactSum::add(float value) {
  if (value == 0) return;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  const int lowest = std::max(exponent - kMantissaBits, kSmallestExponent);
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, exponent - lowest));
  const int place = lowest - kSmallestExponent;
  const std::int64_t shifted = std::abs(mantissa) << (place % 32);
  const std::int64_t sign = mantissa < 0 ? -1 : 1;
  const auto limb = static_cast<std::size_t>(place / 32);
  limbs_[limb] += sign * (shifted % kLimb);
  limbs_[limb + 1] += sign * (shifted / kLimb);
}

void ExactSum::add(const ExactSum& other) {
  const Limbs a = normalized();
  const Limbs b = other.normalized();
  for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] = a[i] + b[i];
}

double ExactSum::value() const {
  const Limbs limbs = normalized();
  double out = 0;
  for (int i = kLimbs; i-- > 0;) {
    out += std::ldexp(static_cast<double>(limbs[static_cast<std::size_t>(i)]),
                      32 * i + kSmallestExponent);
  }
  return out;
}

/// The same sum with every limb but the last in [0, 2^32): equal sums have equal limbs.
ExactSum::Limbs ExactSum::normalized() const {
  Limbs out = limbs_;
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const std::int64_t carry = out[i] >> 32;
    out[i] -= carry * kLimb;
    out[i + 1] += carry;
  }
  return out;
}

}  // namespace qtool
