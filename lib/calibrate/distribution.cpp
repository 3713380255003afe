#include "calibrate/distribution.h"

#include <algorithm>
#include <cmath>

namespace qtool {
namespace {

/// The means of a value and of its square over an interval.
struct Means {
  double first = 0;
  double second = 0;
};

Means mean_values(double low, double high) {
  return {(low + high) / 2, (low * low + low * high + high * high) / 3};
}

/// Integral of sign(x) |x|^(1/3) from 0, which is even, and of |x|^(2/3), which is odd.
double integral_of_root(double x) { return 0.75 * std::pow(std::abs(x), 4.0 / 3); }
double integral_of_squared_root(double x) {
  return std::copysign(0.6 * std::pow(std::abs(x), 5.0 / 3), x);
}

Means mean_roots(double low, double high) {
  const double middle = std::cbrt((low + high) / 2);
  // The difference of two integrals says nothing over an interval narrower than their rounding.
  if (high - low <= 1e-6 * std::max(std::abs(low), std::abs(high)))
    return {middle, middle * middle};
  return {(integral_of_root(high) - integral_of_root(low)) / (high - low),
          (integral_of_squared_root(high) - integral_of_squared_root(low)) / (high - low)};
}

}  // namespace

std::optional<Spread> spread(const Density& density, SpreadOf of) {
  if (density.count == 0) return std::nullopt;
  Means sum;
  double count = 0;
  for (const auto& bin : density.bins) {
    const Means means =
        of == SpreadOf::Values ? mean_values(bin.low, bin.high) : mean_roots(bin.low, bin.high);
    const auto weight = static_cast<double>(bin.count);
    sum.first += weight * means.first;
    sum.second += weight * means.second;
    count += weight;
  }
  const double average = sum.first / count;
  const double variance = sum.second / count - average * average;
  return Spread{average, std::sqrt(std::max(variance, 0.0))};
}

}  // namespace qtool
