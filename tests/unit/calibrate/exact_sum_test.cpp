#include "calibrate/exact_sum.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "catch.h"

namespace qtool {
namespace {

ExactSum sum_of(const std::vector<float>& values) {
  ExactSum out;
  for (const float value : values) out.add(value);
  return out;
}

}  // namespace

TEST_CASE("an exact sum loses nothing between the largest and the smallest float", "[calibrate]") {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  CHECK(sum_of({kMost, kLeast, -kMost}).value() == static_cast<double>(kLeast));
  CHECK(sum_of({1e30F, 1.0F, -1e30F, 0.5F}).value() == 1.5);
  CHECK(sum_of({kMost, kMost, kMost}).value() == 3.0 * static_cast<double>(kMost));
  CHECK(sum_of({}).value() == 0);
  CHECK(sum_of({-2.5F}).value() == -2.5);
  CHECK(sum_of({0.1F}).value() == static_cast<double>(0.1F));
}

TEST_CASE("an exact sum does not depend on order or grouping", "[calibrate]") {
  std::mt19937 random(7);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    const auto mantissa = static_cast<float>(static_cast<std::int32_t>(random()));
    values.push_back(std::ldexp(mantissa, static_cast<int>(random() % 160) - 120));
  }
  const ExactSum whole = sum_of(values);
  ExactSum parts;
  for (std::size_t i = 0; i < values.size(); i += 100) {
    parts.add(sum_of({values.begin() + static_cast<std::ptrdiff_t>(i),
                      values.begin() + static_cast<std::ptrdiff_t>(i + 100)}));
  }
  std::reverse(values.begin(), values.end());
  CHECK(sum_of(values) == whole);
  CHECK(parts == whole);
  CHECK(sum_of(values).value() == whole.value());
}

}  // namespace qtool
