#pragma once

#include <optional>
#include <span>

#include "calibrate/density.h"
#include "calibrate/mse.h"
#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// The power of the error that method `auto` compares by. The squared error alone lets many small
/// errors outvote a clipped outlier, which networks mind more; 6 is between the squared and the
/// largest error (docs/numerics.md, "Auto").
constexpr double kAutoPower = 6;

/// The one of `candidates` with the least mean |error|^power on `density`, the first of equal ones.
/// Needs a candidate and a value.
Range least_error_of(std::span<const Range> candidates, const QuantizationError& error,
                     const QuantizedLevels& levels);

/// The best by mean |error|^power of: the exact extremes, the percentile and the entropy range by
/// `config`, and the range that a search for this very error finds. Nothing for a tensor without a
/// value.
std::optional<Range> auto_range(const Density& density, const CalibrationConfig& config,
                                const QuantizedLevels& levels, double power = kAutoPower);

}  // namespace qtool
