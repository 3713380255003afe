#pragma once

#include "config/config.h"
#include "quantize/params.h"

namespace qtool {

/// How an activation of `value_type` is quantized, as far as `override` (may be null) does not say
/// otherwise.
QuantScheme activation_scheme(const QuantizationConfig& config, const TensorOverride* override,
                              ElementType value_type);

/// How a converted copy of it is.
QuantScheme conversion_scheme(const QuantizationConfig& config, const ConvertOverride& conversion,
                              ElementType value_type);

/// What a constant is to its readers.
enum class ConstantUse {
  Weight,   ///< has the weight type
  Operand,  ///< stands where others have an activation: has the activation type
};

/// How a constant is quantized. With one scale per channel it is symmetric: integer kernels want
/// the same zero point in all.
QuantScheme constant_scheme(const QuantizationConfig& config, const TensorOverride* override,
                            ConstantUse use, bool is_per_channel, ElementType value_type);

}  // namespace qtool
