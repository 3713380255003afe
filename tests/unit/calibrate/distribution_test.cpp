#include "calibrate/distribution.h"

#include <cmath>
#include <vector>

#include "catch.h"
#include "density_samples.h"

namespace qtool {
using testing::activation_like;
using testing::density_of;
using testing::given;

namespace {

template <typename Function>
Spread exact(const std::vector<float>& values, Function of) {
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    const double x = of(static_cast<double>(value));
    sum += x;
    squares += x * x;
  }
  const auto count = static_cast<double>(values.size());
  return {sum / count, std::sqrt(squares / count - sum / count * (sum / count))};
}

}  // namespace

TEST_CASE("distribution: average and deviation are those of all values", "[calibrate]") {
  for (const auto& [name, values] : activation_like(20000)) {
    CAPTURE(name);
    const Density density = density_of(values);
    const Spread plain = exact(values, [](double x) { return x; });
    const Spread found = given(spread(density, SpreadOf::Values));
    CHECK(found.deviation == Approx(plain.deviation).epsilon(0.003));
    CHECK(std::abs(found.average - plain.average) < 0.003 * plain.deviation);
    const Spread roots = exact(values, [](double x) { return std::cbrt(x); });
    const Spread found_roots = given(spread(density, SpreadOf::CubeRoots));
    CHECK(found_roots.deviation == Approx(roots.deviation).epsilon(0.003));
    CHECK(std::abs(found_roots.average - roots.average) < 0.003 * roots.deviation);
  }
}

TEST_CASE("distribution: equal values do not deviate, no value has no spread", "[calibrate]") {
  const Density density{.bins = {{8, 8, 5}}, .min = 8, .max = 8, .count = 5};
  CHECK(given(spread(density, SpreadOf::Values)).deviation == 0);
  CHECK(given(spread(density, SpreadOf::CubeRoots)).average == 2);
  CHECK_FALSE(spread({}, SpreadOf::Values).has_value());
}

}  // namespace qtool
