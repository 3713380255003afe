#include "kernels/sum.h"

#include <cmath>
#include <vector>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

double definition(std::span<const float> values) {
  std::vector<double> parts(16);
  for (std::size_t i = 0; i < values.size(); ++i) parts[i % 16] += static_cast<double>(values[i]);
  for (const std::size_t half : {8, 4, 2, 1}) {
    for (std::size_t k = 0; k < half; ++k) parts[k] += parts[k + half];
  }
  return parts[0];
}

}  // namespace

TEST_CASE("sum: the same to the bit on every target", "[kernels]") {
  for_each_target([] {
    for (const std::size_t length : lengths()) {
      std::vector<float> values;
      for (const float value :
           test_values(length, Values::WithSpecial, static_cast<std::uint32_t>(length))) {
        if (std::isfinite(value)) values.push_back(value);
      }
      CAPTURE(length);
      REQUIRE(sum(values) == definition(values));
    }
  });
}

TEST_CASE("sum: every channel by itself", "[kernels]") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<double> two(2);
  sum_per_channel(values, {.outer = 2, .count = 2, .inner = 3}, two);
  CHECK(two == std::vector<double>{30, 48});
  std::vector<double> three(3);
  sum_per_channel(values, {.outer = 4, .count = 3, .inner = 1}, three);
  CHECK(three == std::vector<double>{22, 26, 30});
}

}  // namespace qtool::kernels
