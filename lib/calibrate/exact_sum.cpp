#include "calibrate/exact_sum.h"

#include <algorithm>
#include <cmath>

namespace qtool {
namespace {

constexpr int kSmallestExponent = -1074;
constexpr int kMantissaBits = 53;
constexpr int kLimbBits = 32;
constexpr std::int64_t kLimb = std::int64_t{1} << kLimbBits;

}  // namespace

void ExactSum::add(double value) {
  if (value == 0) return;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const int lowest = std::max(exponent - kMantissaBits, kSmallestExponent);
  const auto mantissa =
      static_cast<std::int64_t>(std::ldexp(std::abs(fraction), exponent - lowest));
  const int place = lowest - kSmallestExponent;
  const std::int64_t sign = value < 0 ? -1 : 1;
  auto limb = static_cast<std::size_t>(place / kLimbBits);
  for (const std::int64_t half : {mantissa % kLimb, mantissa / kLimb}) {
    const std::int64_t shifted = half << (place % kLimbBits);
    limbs_[limb] += sign * (shifted % kLimb);
    limbs_[++limb] += sign * (shifted / kLimb);
  }
}

void ExactSum::add(const ExactSum& other) {
  const Limbs a = normalized();
  const Limbs b = other.normalized();
  for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] = a[i] + b[i];
}

double ExactSum::value() const {
  Limbs limbs = normalized();
  const bool is_negative = limbs.back() < 0;
  if (is_negative) {
    for (std::int64_t& limb : limbs) limb = -limb;
    limbs = ExactSum(limbs).normalized();
  }
  double out = 0;
  for (int i = kLimbs; i-- > 0;) {
    out += std::ldexp(static_cast<double>(limbs[static_cast<std::size_t>(i)]),
                      kLimbBits * i + kSmallestExponent);
  }
  return is_negative ? -out : out;
}

ExactSum::Limbs ExactSum::normalized() const {
  Limbs out = limbs_;
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const std::int64_t carry = out[i] >> kLimbBits;
    out[i] -= carry * kLimb;
    out[i + 1] += carry;
  }
  return out;
}

}  // namespace qtool
