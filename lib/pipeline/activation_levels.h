#pragma once

#include "calibrate/linear_grid.h"
#include "config/config.h"

namespace qtool {

/// The integers that activations are quantized to under this config.
QuantizedLevels activation_levels(const QuantizationConfig& config);

}  // namespace qtool
