#include "kernels/outer_products.h"

#include <algorithm>
#include <vector>

#include "kernel_cases.h"

namespace qtool::kernels {
namespace {

using Doubles = std::vector<double>;

/// `count` rows of `length` values, as add_outer_products takes them.
Doubles random_rows(std::size_t count, std::size_t length) {
  const auto values = test_values(count * length, Values::Normal, static_cast<unsigned>(length));
  Doubles out(count * row_stride(length));
  for (std::size_t r = 0; r < count; ++r) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(r * length), length,
                out.begin() + static_cast<std::ptrdiff_t>(r * row_stride(length)));
  }
  return out;
}

void add_by_definition(const Doubles& rows, std::size_t count, std::size_t length, Doubles& upper) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t j = i; j < length; ++j, ++at) {
      for (std::size_t r = 0; r < count; ++r)
        upper[at] += rows[r * row_stride(length) + i] * rows[r * row_stride(length) + j];
    }
  }
}

}  // namespace

TEST_CASE("outer products: the same to the bit on every target", "[kernels]") {
  for_each_target([] {
    for (std::size_t length = 1; length <= 70; ++length) {
      for (const std::size_t count : {0U, 1U, 5U, 32U}) {
        CAPTURE(length, count);
        const Doubles rows = random_rows(count, length);
        Doubles found(length * (length + 1) / 2, 0.1), wanted = found;
        add_outer_products(rows, length, found);
        add_by_definition(rows, count, length, wanted);
        REQUIRE(found == wanted);
      }
    }
  });
}

TEST_CASE("outer products: rows lie an odd number of 16 values apart", "[kernels]") {
  CHECK(row_stride(1) == 16);
  CHECK(row_stride(16) == 16);
  CHECK(row_stride(17) == 48);
  CHECK(row_stride(4096) == 4112);
}

}  // namespace qtool::kernels
