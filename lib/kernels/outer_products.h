#pragma once

#include <cstddef>
#include <span>

namespace qtool::kernels {

/// How far apart rows of `length` values lie for add_outer_products: an odd multiple of 16, so that
/// values below each other do not share a set of the cache. Behind each row stand zeros.
constexpr std::size_t row_stride(std::size_t length) { return 16 * ((length + 15) / 16 | 1); }

/// Adds x x^T of every row x to `upper`, the upper triangle of a symmetric matrix of `length`
/// lines, line by line without a gap. Each sum takes the rows in their order. Values are those of
/// float32, so that products are exact and the result is the same to the bit on every target.
void add_outer_products(std::span<const double> rows, std::size_t length, std::span<double> upper);

}  // namespace qtool::kernels
