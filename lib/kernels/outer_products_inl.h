// Compiled once for each target of Highway; included by outer_products.cpp alone.
#if defined(QTOOL_KERNELS_OUTER_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QTOOL_KERNELS_OUTER_PRODUCTS_INL_H
#undef QTOOL_KERNELS_OUTER_PRODUCTS_INL_H
#else
#define QTOOL_KERNELS_OUTER_PRODUCTS_INL_H
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

#include "kernels/outer_products.h"

HWY_BEFORE_NAMESPACE();
namespace qtool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums that stay in registers over all rows: so many lines of two vectors.
constexpr std::size_t kLines = 4;
using Sums = hn::CappedTag<double, 8>;

/// Rows at the first value of a block's lines and at that of its columns.
struct BlockRows {
  const double* lines;
  const double* columns;
  std::size_t count;
  std::size_t stride;
};

inline void add_block(const BlockRows& rows, double* const (&sums)[kLines]) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  auto a0 = hn::LoadU(d, sums[0]), a1 = hn::LoadU(d, sums[0] + lanes);
  auto b0 = hn::LoadU(d, sums[1]), b1 = hn::LoadU(d, sums[1] + lanes);
  auto c0 = hn::LoadU(d, sums[2]), c1 = hn::LoadU(d, sums[2] + lanes);
  auto e0 = hn::LoadU(d, sums[3]), e1 = hn::LoadU(d, sums[3] + lanes);
  const double* line = rows.lines;
  const double* column = rows.columns;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const auto x0 = hn::LoadU(d, column), x1 = hn::LoadU(d, column + lanes);
    const auto a = hn::Set(d, line[0]), b = hn::Set(d, line[1]);
    a0 = hn::MulAdd(a, x0, a0);
    a1 = hn::MulAdd(a, x1, a1);
    b0 = hn::MulAdd(b, x0, b0);
    b1 = hn::MulAdd(b, x1, b1);
    const auto c = hn::Set(d, line[2]), e = hn::Set(d, line[3]);
    c0 = hn::MulAdd(c, x0, c0);
    c1 = hn::MulAdd(c, x1, c1);
    e0 = hn::MulAdd(e, x0, e0);
    e1 = hn::MulAdd(e, x1, e1);
    line += rows.stride;
    column += rows.stride;
  }
  hn::StoreU(a0, d, sums[0]);
  hn::StoreU(a1, d, sums[0] + lanes);
  hn::StoreU(b0, d, sums[1]);
  hn::StoreU(b1, d, sums[1] + lanes);
  hn::StoreU(c0, d, sums[2]);
  hn::StoreU(c1, d, sums[2] + lanes);
  hn::StoreU(e0, d, sums[3]);
  hn::StoreU(e1, d, sums[3] + lanes);
}

/// Where value `column` of line `line` of the triangle is.
inline double* sum_at(double* upper, std::size_t length, std::size_t line, std::size_t column) {
  return upper + line * (2 * length - line + 1) / 2 + (column - line);
}

/// A block that the triangle has only a part of: the part goes through a block in memory.
inline void add_part(const BlockRows& rows, std::size_t length, std::size_t first_line,
                     std::size_t first_column, double* upper) {
  const std::size_t width = 2 * hn::Lanes(Sums());
  double parts[kLines][16] = {};
  const auto for_each_piece = [&](const auto& copy) {
    for (std::size_t k = 0; k < kLines && first_line + k < length; ++k) {
      const std::size_t begin = std::max(first_line + k, first_column);
      const std::size_t end = std::min(first_column + width, length);
      if (begin < end) {
        copy(sum_at(upper, length, first_line + k, begin), parts[k] + (begin - first_column),
             end - begin);
      }
    }
  };
  for_each_piece(
      [](const double* sums, double* part, std::size_t count) { std::copy_n(sums, count, part); });
  add_block(rows, {parts[0], parts[1], parts[2], parts[3]});
  for_each_piece(
      [](double* sums, const double* part, std::size_t count) { std::copy_n(part, count, sums); });
}

inline void add_outer_products(const double* rows, std::size_t row_count, std::size_t length,
                               double* upper) {
  const std::size_t width = 2 * hn::Lanes(Sums());
  for (std::size_t line = 0; line < length; line += kLines) {
    for (std::size_t column = line / width * width; column < length; column += width) {
      const BlockRows block{rows + line, rows + column, row_count, row_stride(length)};
      const bool is_whole =
          column + 1 >= line + kLines && line + kLines <= length && column + width <= length;
      if (!is_whole) {
        add_part(block, length, line, column, upper);
        continue;
      }
      const auto at = [&](std::size_t k) { return sum_at(upper, length, line + k, column); };
      add_block(block, {at(0), at(1), at(2), at(3)});
    }
  }
}

}  // namespace qtool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
