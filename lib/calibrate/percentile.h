#pragma once

#include <optional>

#include "calibrate/density.h"
#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// The range that holds `config.percentile` percent of all values (docs/numerics.md,
/// "Percentile"). Half of the others is cut away at each end; with `config.symmetric` the range is
/// (-t, t) and the values of largest magnitude are cut away. Never wider than the exact extremes
/// (their larger magnitude, where symmetric). Nothing for a tensor without a value.
std::optional<Range> percentile_range(const Density& density, const CalibrationConfig& config);

}  // namespace qtool
