#include "quantize/activation_params.h"

#include "quantize/params.h"
#include "quantize/schemes.h"

namespace qtool {
namespace {

/// One of the two that an override may be.
struct GivenValues {
  const ChannelValues &scale, &zero_point, &rmin, &rmax;
};

QuantParams single(const QuantScheme& scheme, const ScaleAndZero& of_tensor) {
  return {.type = scheme.type,
          .scales = {of_tensor.scale},
          .zero_points = {of_tensor.zero_point},
          .scale_type = scheme.value_type};
}

QuantParams params_of(Range range, const QuantScheme& scheme, const GivenValues* given) {
  if (given && !given->scale.values.empty()) {
    return single(scheme, {static_cast<float>(given->scale.values.front()),
                           static_cast<std::int32_t>(given->zero_point.values.front())});
  }
  if (is_float8(scheme.type))
    return single(scheme, float8_scale(range.deviation, scheme.value_type));
  if (given && !given->rmin.values.empty())
    range.min = static_cast<float>(given->rmin.values.front());
  if (given && !given->rmax.values.empty())
    range.max = static_cast<float>(given->rmax.values.front());
  return single(scheme, scale_and_zero(range, scheme));
}

}  // namespace

QuantParams activation_params(const Range& range, const QuantizationConfig& config,
                              const TensorOverride* override, ElementType value_type) {
  const QuantScheme scheme = activation_scheme(config, override, value_type);
  if (override == nullptr) return params_of(range, scheme, nullptr);
  const GivenValues given{override->scale, override->zero_point, override->rmin, override->rmax};
  return params_of(range, scheme, &given);
}

QuantParams conversion_params(const Range& range, const QuantizationConfig& config,
                              const ConvertOverride& conversion, ElementType value_type) {
  const GivenValues given{conversion.scale, conversion.zero_point, conversion.rmin,
                          conversion.rmax};
  return params_of(range, conversion_scheme(config, conversion, value_type), &given);
}

}  // namespace qtool
