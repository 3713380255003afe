#pragma once

#include <cstdint>
#include <optional>

#include "calibrate/ranges.h"
#include "calibrate/statistics.h"

namespace qtool {

/// How a tensor's values and a range fit each other.
struct RangeUse {
  /// Values outside of the range: to the resolution of the sketch, and 0 exactly where the extremes
  /// lie inside.
  std::uint64_t clipped_count = 0;
  /// Share of the range's width that the interval of zero and all values takes; 1 for a range
  /// without width.
  double range_used = 1;
};

/// Of a tensor whose distribution was recorded; `range` has zero in it. Nothing for a tensor
/// without a finite value.
std::optional<RangeUse> range_use(const TensorStatistics& statistics, Range range);

}  // namespace qtool
