#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/tensor.h"
#include "verify/comparison.h"

namespace qtool {

/// One class per row; none where every score of the row is NaN.
using Classes = std::vector<std::optional<std::int64_t>>;

/// The classes that a classifier's output names: the first of the largest scores in each row of
/// `[C]` or `[N,C]`, C > 1, or the values themselves of an integer scalar, `[N]` or `[N,1]`. Axes
/// of size 1 at the end of higher ranks do not count. Nothing where the tensor has another shape.
std::optional<Classes> classes_of(const Tensor& output);

/// The rows of one sample, counted.
struct Top1Counts {
  std::size_t rows = 0;
  std::size_t agreeing = 0;
  std::size_t reference_right = 0;
  std::size_t right = 0;

  Top1Counts& operator+=(const Top1Counts& other);
};

/// Counts rows of two outputs of one sample; no rows where one of them is not a classifier's or the
/// numbers of rows differ.
Top1Counts count_top1(const Tensor& reference, const Tensor& other,
                      std::optional<std::int64_t> label);

/// Shares by counts; empty where nothing was counted.
Top1 to_top1(const Top1Counts& counts, bool has_labels);

}  // namespace qtool
