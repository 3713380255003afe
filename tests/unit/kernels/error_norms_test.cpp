#include "kernels/error_norms.h"

#include <array>
#include <bit>
#include <cmath>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

double total(const std::array<double, 8>& s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

template <typename T>
ErrorNorms definition(std::span<const T> reference, std::span<const T> other) {
  std::array<double, 8> dot{}, aa{}, bb{}, ee{}, e{};
  ErrorNorms out;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double a = reference[i];
    const double b = other[i];
    const double error = std::abs(a - b);
    dot[i % 8] += a * b;
    aa[i % 8] += a * a;
    bb[i % 8] += b * b;
    ee[i % 8] += error * error;
    e[i % 8] += error;
    if (error > out.max_error) out.max_error = error;
  }
  return {total(dot), total(aa), total(bb), total(ee), total(e), out.max_error};
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same(const ErrorNorms& a, const ErrorNorms& b) {
  return same(a.dot, b.dot) && same(a.reference_squares, b.reference_squares) &&
         same(a.other_squares, b.other_squares) && same(a.error_squares, b.error_squares) &&
         same(a.error_sum, b.error_sum) && same(a.max_error, b.max_error);
}

}  // namespace

TEST_CASE("error_norms equals its definition on every target, bit for bit", "[kernels]") {
  for_each_target([] {
    for_each_input([](std::span<const float> values) {
      const auto other = test_values(values.size(), Values::Normal, 99);
      if (!same(error_norms(values, other), definition<float>(values, other)))
        FAIL("float differs");
      const std::vector<double> values64(values.begin(), values.end());
      std::vector<double> other64(other.begin(), other.end());
      for (double& value : other64) value /= 3;
      if (!same(error_norms(values64, other64), definition<double>(values64, other64)))
        FAIL("double differs");
    });
  });
}

TEST_CASE("error_norms of a tensor with itself has no error", "[kernels]") {
  const std::vector<float> values{3, -4};
  const auto norms = error_norms(values, values);
  CHECK(norms.dot == 25);
  CHECK(norms.reference_squares == 25);
  CHECK(norms.error_squares == 0);
  CHECK(norms.error_sum == 0);
  CHECK(norms.max_error == 0);
}

}  // namespace qtool::kernels
