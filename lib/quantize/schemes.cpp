#include "quantize/schemes.h"

namespace qtool {
namespace {

bool is_signed(ElementType type) {
  return type == ElementType::Int4 || type == ElementType::Int8 || type == ElementType::Int16 ||
         type == ElementType::Float8E4M3FN;
}

}  // namespace

QuantScheme activation_scheme(const QuantizationConfig& config, const TensorOverride* override,
                              ElementType value_type) {
  QuantScheme scheme = activation_scheme(config);
  scheme.value_type = value_type;
  if (override == nullptr) return scheme;
  if (override->quant_type) scheme.type = element_type(*override->quant_type);
  scheme.is_symmetric = override->symmetric.value_or(scheme.is_symmetric);
  return scheme;
}

QuantScheme conversion_scheme(const QuantizationConfig& config, const ConvertOverride& conversion,
                              ElementType value_type) {
  QuantScheme scheme = activation_scheme(config);
  scheme.value_type = value_type;
  scheme.type = element_type(*conversion.quant_type);
  scheme.is_symmetric = conversion.symmetric.value_or(scheme.is_symmetric);
  return scheme;
}

QuantScheme constant_scheme(const QuantizationConfig& config, const TensorOverride* override,
                            ConstantUse use, bool is_per_channel, ElementType value_type) {
  const ExtraOptions& options = config.extra_options;
  const bool is_weight = use == ConstantUse::Weight;
  QuantScheme scheme{.type = element_type(is_weight ? config.weight_type : config.activation_type),
                     .is_reduced = config.reduce_range,
                     .minimum_real_range = options.minimum_real_range,
                     .value_type = value_type};
  if (override && override->quant_type) scheme.type = element_type(*override->quant_type);
  scheme.is_symmetric = is_weight ? options.weight_symmetric.value_or(is_signed(scheme.type))
                                  : options.activation_symmetric.value_or(false);
  if (is_per_channel) scheme.is_symmetric = true;
  if (override == nullptr) return scheme;
  scheme.is_symmetric = override->symmetric.value_or(scheme.is_symmetric);
  scheme.is_reduced = override->reduce_range.value_or(scheme.is_reduced);
  return scheme;
}

}  // namespace qtool
