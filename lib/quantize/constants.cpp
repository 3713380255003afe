#include "quantize/constants.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/error.h"
#include "kernels/blocks.h"
#include "kernels/channels.h"
#include "kernels/deviation.h"
#include "kernels/min_max.h"
#include "kernels/pack_nibbles.h"
#include "kernels/quantize_float8.h"
#include "kernels/quantize_linear.h"
#include "model/channel_layout.h"
#include "model/float_values.h"
#include "model/wide_values.h"

namespace qtool {
namespace {

kernels::Channels channels_along(const Tensor& tensor, std::optional<std::int64_t> axis) {
  if (axis) return *channel_layout(tensor.shape, *axis);
  return {.outer = 1, .count = 1, .inner = tensor.element_count()};
}

kernels::Blocks blocks_along(const Tensor& tensor, std::int64_t axis, std::int64_t block_size) {
  const kernels::Channels channels = channels_along(tensor, axis);
  return {.outer = channels.outer,
          .length = channels.count,
          .inner = channels.inner,
          .size = static_cast<std::size_t>(block_size)};
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::Usage, what); }

/// What is given for channel `index`, if anything is.
std::optional<double> given_for(const std::vector<double>& given, std::size_t index,
                                std::size_t channel_count, const char* key) {
  if (given.empty()) return std::nullopt;
  if (given.size() != 1 && given.size() != channel_count) {
    refuse(std::string(key) + ": " + std::to_string(given.size()) + " values, expected 1 or " +
           std::to_string(channel_count));
  }
  return given[given.size() == 1 ? 0 : index];
}

ScaleAndZero given_scale_and_zero(double scale, double zero_point, const QuantScheme& scheme) {
  const auto stored = static_cast<float>(round_to(scheme.value_type, scale));
  if (!std::isfinite(stored) || stored <= 0) {
    refuse("scale: " + std::to_string(scale) + ", expected a positive number that " +
           element_type_name(scheme.value_type) + " holds");
  }
  const IntegerRange full = is_float8(scheme.type) ? IntegerRange{0, 0} : full_range(scheme.type);
  if (!(zero_point >= full.min && zero_point <= full.max)) {
    refuse("zero_point: " + std::to_string(zero_point) + ", expected a value of " +
           element_type_name(scheme.type) + ", " + std::to_string(full.min) + " to " +
           std::to_string(full.max));
  }
  return {stored, static_cast<std::int32_t>(zero_point)};
}

/// One channel's values as float8. Where they have no deviation, or none that their type can hold,
/// the largest magnitude becomes the largest number.
ScaleAndZero float8_scale_of(std::span<const float> values, Range range, ElementType value_type) {
  double deviation = value_type == ElementType::Float16 ? kernels::deviation_of_float16(values)
                                                        : kernels::deviation(values);
  // numpy's sums of float16 end at 65504, and its squares begin at 2^-24.
  const bool is_lost = !std::isfinite(deviation) || deviation == 0;
  if (value_type == ElementType::Float16 && is_lost) deviation = kernels::deviation(values);
  if (deviation > 0) return float8_scale(deviation, value_type);
  const QuantScheme by_extremes{.type = ElementType::Float8E4M3FN, .value_type = value_type};
  return scale_and_zero(range, by_extremes);
}

std::vector<float> values_of_channel(std::span<const float> values,
                                     const kernels::Channels& channels, std::size_t channel) {
  std::vector<float> out;
  out.reserve(channels.outer * channels.inner);
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    const auto piece =
        values.subspan((outer * channels.count + channel) * channels.inner, channels.inner);
    out.insert(out.end(), piece.begin(), piece.end());
  }
  return out;
}

/// Parameters per tensor or channel, one channel after the other.
class ChannelParamsMaker {
 public:
  ChannelParamsMaker(std::span<const float> values, const kernels::Channels& channels,
                     const QuantScheme& scheme, const GivenParams& given)
      : values_(values), channels_(channels), scheme_(scheme), given_(given) {}

  ScaleAndZero params_of(std::size_t channel, const kernels::MinMax& found) const {
    const auto given = [&](const std::vector<double>& from, const char* key) {
      return given_for(from, channel, channels_.count, key);
    };
    if (const auto scale = given(given_.scale, "scale"))
      return given_scale_and_zero(*scale, given(given_.zero_point, "zero_point").value_or(0),
                                  scheme_);
    if (values_.empty()) return {};
    if (is_float8(scheme_.type)) return float8_params_of(channel, {found.min, found.max});
    const double low = given(given_.rmin, "rmin").value_or(double{found.min});
    const double high = given(given_.rmax, "rmax").value_or(double{found.max});
    return scale_and_zero({static_cast<float>(round_to(scheme_.value_type, low)),
                           static_cast<float>(round_to(scheme_.value_type, high))},
                          scheme_);
  }

 private:
  ScaleAndZero float8_params_of(std::size_t channel, Range range) const {
    if (channels_.count == 1) return float8_scale_of(values_, range, scheme_.value_type);
    return float8_scale_of(values_of_channel(values_, channels_, channel), range,
                           scheme_.value_type);
  }

  std::span<const float> values_;
  const kernels::Channels& channels_;
  const QuantScheme& scheme_;
  const GivenParams& given_;
};

QuantParams params_without_scales(const QuantScheme& scheme, const ScaleSharing& sharing) {
  QuantParams out;
  out.type = scheme.type;
  out.axis = sharing.axis;
  out.block_size = sharing.block_size;
  out.scale_type = scheme.value_type;
  return out;
}

/// Appends parameters made for each range; false where a value was not finite.
template <typename Make>
bool append(const std::vector<kernels::MinMax>& ranges, const Make& make, ConstantParams& out) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].nonfinite_count > 0) return false;
    const ScaleAndZero each = make(i, ranges[i]);
    out.params.scales.push_back(each.scale);
    out.params.zero_points.push_back(each.zero_point);
    out.is_zero.push_back(ranges[i].min == 0 && ranges[i].max == 0);
  }
  return true;
}

std::optional<ConstantParams> block_params(const Tensor& tensor, std::span<const float> values,
                                           const ScaleSharing& sharing, const QuantScheme& scheme) {
  if (is_float8(scheme.type)) {
    refuse(
        "BlockSize: weights of type float8e4m3fn have one scale per tensor or channel, no "
        "blocks");
  }
  const kernels::Blocks blocks = blocks_along(tensor, *sharing.axis, sharing.block_size);
  std::vector<kernels::MinMax> ranges(blocks.count());
  kernels::min_max_per_block(values, blocks, ranges);
  ConstantParams out{.params = params_without_scales(scheme, sharing), .is_zero = {}};
  out.params.block_shape = tensor.shape;
  out.params.block_shape[static_cast<std::size_t>(*sharing.axis)] =
      static_cast<std::int64_t>(blocks.per_axis());
  const auto make = [&](std::size_t, const kernels::MinMax& range) {
    return block_scale_and_zero({range.min, range.max}, scheme);
  };
  return append(ranges, make, out) ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<ConstantParams> channel_params(const Tensor& tensor, std::span<const float> values,
                                             const ScaleSharing& sharing, const QuantScheme& scheme,
                                             const GivenParams& given) {
  const kernels::Channels channels = channels_along(tensor, sharing.axis);
  std::vector<kernels::MinMax> ranges(channels.count);
  kernels::min_max_per_channel(values, channels, ranges);
  ConstantParams out{.params = params_without_scales(scheme, sharing), .is_zero = {}};
  const ChannelParamsMaker maker(values, channels, scheme, given);
  const auto make = [&](std::size_t i, const kernels::MinMax& range) {
    return maker.params_of(i, range);
  };
  return append(ranges, make, out) ? std::optional(std::move(out)) : std::nullopt;
}

template <typename Integer>
void quantize_into(const Tensor& tensor, std::span<const float> values, const QuantParams& params,
                   std::span<Integer> out) {
  const IntegerRange full = full_range(params.type);
  const kernels::ChannelParams each{params.scales, params.zero_points, full.min, full.max};
  if (params.block_size > 0) {
    const kernels::Blocks blocks = blocks_along(tensor, params.axis.value_or(0), params.block_size);
    kernels::quantize_linear_per_block(values, blocks, each, out);
  } else {
    kernels::quantize_linear_per_channel(values, channels_along(tensor, params.axis), each, out);
  }
}

template <typename Integer>
std::vector<std::byte> quantize_as(const Tensor& tensor, std::span<const float> values,
                                   const QuantParams& params) {
  std::vector<std::byte> out(values.size() * sizeof(Integer));
  quantize_into<Integer>(tensor, values, params,
                         {reinterpret_cast<Integer*>(out.data()), values.size()});
  return out;
}

std::vector<std::byte> quantize_as_nibbles(const Tensor& tensor, std::span<const float> values,
                                           const QuantParams& params) {
  const auto codes = quantize_as<std::int8_t>(tensor, values, params);
  std::vector<std::byte> out(packed_bytes(params.type, values.size()));
  kernels::pack_nibbles({reinterpret_cast<const std::uint8_t*>(codes.data()), codes.size()},
                        {reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
  return out;
}

std::vector<std::byte> quantize_as_float8(const Tensor& tensor, std::span<const float> values,
                                          const QuantParams& params) {
  std::vector<std::byte> out(values.size());
  const auto quotient =
      tensor.type == ElementType::Float16 ? kernels::Quotient::Float16 : kernels::Quotient::Float32;
  kernels::quantize_float8_per_channel(values, channels_along(tensor, params.axis), params.scales,
                                       quotient,
                                       {reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
  return out;
}

}  // namespace

std::optional<ConstantParams> constant_params(const Tensor& values, const ScaleSharing& sharing,
                                              const QuantScheme& scheme, const GivenParams& given) {
  if (is_float8(scheme.type) && scheme.is_reduced)
    refuse("reduce_range: float8e4m3fn has no reduced range, expected false");
  QuantScheme exact = scheme;
  exact.value_type = values.type;
  const WideValues wide(values);
  const bool has_blocks = sharing.block_size > 0 && !values.shape.empty() && given.scale.empty();
  if (!has_blocks) return channel_params(values, wide.get(), {.axis = sharing.axis}, exact, given);
  return block_params(values, wide.get(),
                      {.axis = sharing.axis.value_or(0), .block_size = sharing.block_size}, exact);
}

std::vector<std::byte> quantize_constant(const Tensor& values, const QuantParams& params) {
  const WideValues wide(values);
  switch (params.type) {
    case ElementType::Int8:
      return quantize_as<std::int8_t>(values, wide.get(), params);
    case ElementType::UInt8:
      return quantize_as<std::uint8_t>(values, wide.get(), params);
    case ElementType::Int16:
      return quantize_as<std::int16_t>(values, wide.get(), params);
    case ElementType::UInt16:
      return quantize_as<std::uint16_t>(values, wide.get(), params);
    case ElementType::Int4:
    case ElementType::UInt4:
      return quantize_as_nibbles(values, wide.get(), params);
    case ElementType::Float8E4M3FN:
      return quantize_as_float8(values, wide.get(), params);
    default:
      throw Error(ErrorKind::Internal,
                  "constants cannot be stored as " + element_type_name(params.type));
  }
}

}  // namespace qtool
