#pragma once

#include <optional>

#include "calibrate/density.h"
#include "calibrate/linear_grid.h"
#include "calibrate/quantization_error.h"
#include "calibrate/ranges.h"

namespace qtool {

/// What a search may choose.
struct RangeSearch {
  QuantizedLevels levels;
  bool is_symmetric = false;  ///< only ranges (-t, t)
};

/// The range of least `error` on values of `density` (docs/numerics.md, "Least quantization
/// error"): never wider than the exact extremes, or than their larger magnitude where the range or
/// the levels are symmetric. Of equal ones the widest.
Range least_error_search(const Density& density, const QuantizationError& error,
                         const RangeSearch& search);

/// The range of least expected squared error. Nothing for a tensor without a value.
std::optional<Range> mse_range(const Density& density, const RangeSearch& search);

}  // namespace qtool
