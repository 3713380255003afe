#include "kernels/deviation.h"

#include <cmath>

#include "kernel_cases.h"

namespace qtool::kernels {

TEST_CASE("the deviation is the population's", "[kernels]") {
  const float values[] = {1, 3, 5, 7};
  CHECK(deviation(values) == std::sqrt(5.0F));
  CHECK(deviation_of_float16(values) == static_cast<float>(2.236328125));
  CHECK(deviation({}) == 0);
  CHECK(deviation_of_float16({}) == 0);
}

TEST_CASE("the deviation is exact to float32 over many values", "[kernels]") {
  const auto values = test_values(100003, Values::Normal);
  double sum = 0, squares = 0;
  for (const float value : values) sum += static_cast<double>(value);
  const double mean = sum / static_cast<double>(values.size());
  for (const float value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  const double exact = std::sqrt(squares / static_cast<double>(values.size()));
  CHECK(static_cast<double>(deviation(values)) == Approx(exact).epsilon(1e-6));
}

TEST_CASE("float16 sums of squares end at 65504", "[kernels]") {
  std::vector<float> values(100, 100.0F);
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = -100.0F;
  CHECK(std::isinf(deviation_of_float16(values)));
  CHECK(deviation(values) == 100.0F);
}

}  // namespace qtool::kernels
