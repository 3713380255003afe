#include "quantize/constants.h"

#include <span>

#include "base/error.h"
#include "kernels/min_max.h"
#include "kernels/quantize_linear.h"

namespace qtool {
namespace {

kernels::Channels channels_along(const Tensor& tensor, std::optional<std::int64_t> axis) {
  if (!axis) return {.outer = 1, .count = 1, .inner = tensor.element_count()};
  kernels::Channels channels;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const auto at = static_cast<std::size_t>(*axis);
    (i < at    ? channels.outer
     : i == at ? channels.count
               : channels.inner) *= static_cast<std::size_t>(tensor.shape[i]);
  }
  return channels;
}

template <typename Int>
std::vector<std::byte> quantize_as(const Tensor& values, const QuantParams& params) {
  const IntegerRange full = full_range(params.type);
  std::vector<std::byte> out(values.element_count() * sizeof(Int));
  kernels::quantize_linear_per_channel(
      values.floats(), channels_along(values, params.axis),
      {params.scales, params.zero_points, full.min, full.max},
      {reinterpret_cast<Int*>(out.data()), values.element_count()});
  return out;
}

}  // namespace

std::optional<ConstantParams> constant_params(const Tensor& values, const ScaleSharing& sharing,
                                              const QuantScheme& scheme) {
  const kernels::Channels channels = channels_along(values, sharing.axis);
  std::vector<kernels::MinMax> ranges(channels.count);
  kernels::min_max_per_channel(values.floats(), channels, ranges);
  ConstantParams out{
      .params = {.type = scheme.type, .scales = {}, .zero_points = {}, .axis = sharing.axis},
      .is_zero = {}};
  for (const kernels::MinMax& range : ranges) {
    if (range.nonfinite_count > 0) return std::nullopt;
    const ScaleAndZero each = scale_and_zero({range.min, range.max}, scheme);
    out.params.scales.push_back(each.scale);
    out.params.zero_points.push_back(each.zero_point);
    out.is_zero.push_back(range.min == 0 && range.max == 0);
  }
  return out;
}

std::vector<std::byte> quantize_constant(const Tensor& values, const QuantParams& params) {
  switch (params.type) {
    case ElementType::Int8:
      return quantize_as<std::int8_t>(values, params);
    case ElementType::UInt8:
      return quantize_as<std::uint8_t>(values, params);
    case ElementType::Int16:
      return quantize_as<std::int16_t>(values, params);
    case ElementType::UInt16:
      return quantize_as<std::uint16_t>(values, params);
    default:
      throw Error(ErrorKind::Internal,
                  "constants cannot be stored as " + element_type_name(params.type));
  }
}

}  // namespace qtool
