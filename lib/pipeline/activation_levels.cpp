#include "pipeline/activation_levels.h"

#include "quantize/params.h"

namespace qtool {

QuantizedLevels activation_levels(const QuantizationConfig& config) {
  const QuantScheme scheme = activation_scheme(config);
  const IntegerRange spread = spread_range(scheme);
  const IntegerRange full = full_range(scheme.type);
  return {.spread_min = spread.min,
          .spread_max = spread.max,
          .clamp_min = full.min,
          .clamp_max = full.max,
          .is_symmetric = scheme.is_symmetric,
          .minimum_real_range = scheme.minimum_real_range};
}

}  // namespace qtool
