#include "quantize/bias.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "calibrate/linear_grid.h"
#include "model/float_values.h"

namespace qtool {
namespace {

// A little more than the bias needs, so that rounding the scale to float32 cannot push it over the
// edge.
constexpr double kMargin = 1.0001;
constexpr double kInt32Max = std::numeric_limits<std::int32_t>::max();

double smallest_scale(double largest_bias) { return kMargin * largest_bias / kInt32Max; }

/// `scale` as float32, or as the next float16 that is no smaller: float16 has fewer digits than the
/// margin leaves room for.
double at_least(double scale, ElementType type) {
  const double rounded = round_to(type, scale);
  if (type != ElementType::Float16 || rounded >= scale) return rounded;
  // More than half of the way to the next number and less than half of the way from that to the one
  // behind it.
  return round_to(type, rounded + std::max(std::ldexp(rounded, -10) * 0.75, 0x1p-24));
}

QuantParams int32_params(const Tensor& stored, std::vector<float> scales) {
  QuantParams params{
      .type = ElementType::Int32, .scales = std::move(scales), .zero_points = {}, .axis = {}};
  params.zero_points.assign(params.scales.size(), 0);
  if (params.scales.size() > 1) params.axis = static_cast<std::int64_t>(stored.shape.size()) - 1;
  return params;
}

/// Each product is rounded to the type of the bias, from left to right.
std::vector<float> scale_products(const QuantParams& weight, std::size_t count,
                                  const BiasFactors& factors) {
  const auto round = [&factors](float value) {
    return static_cast<float>(round_to(factors.value_type, static_cast<double>(value)));
  };
  const float beta = round(factors.beta);
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float product = round(factors.input_scale * weight.scales[i % weight.scales.size()]);
    out[i] = round(product * beta);
  }
  return out;
}

bool holds_all(std::span<const float> scales, std::span<const double> largest_bias) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == 0 || largest_bias[i] > kInt32Max * double{scales[i]}) return false;
  }
  return true;
}

}  // namespace

bool shows_in_output(double bias_scale, const BiasHeadroom& headroom) {
  const double error =
      static_cast<double>(headroom.products) * headroom.input_levels * bias_scale / 2;
  return error > headroom.output_step / 2;
}

std::optional<Tensor> stored_bias(const Tensor& bias, std::size_t channels, float factor) {
  std::vector<std::int64_t> shape = bias.shape;
  while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.empty()) shape.push_back(1);
  const auto last = static_cast<std::size_t>(shape.back());
  const bool broadcasts = channels > 1 && last == 1;
  if (channels > 1 && last != channels && !broadcasts) return std::nullopt;

  std::vector<float> values;
  for (const float value : to_float32(bias))
    values.insert(values.end(), broadcasts ? channels : 1, factor == 0 ? 0.0F : value * factor);
  if (broadcasts) shape.back() = static_cast<std::int64_t>(channels);
  return float_tensor(std::move(shape), values);
}

Tensor float_tensor(std::vector<std::int64_t> shape, std::span<const float> values) {
  Tensor out{.type = ElementType::Float, .shape = std::move(shape), .bytes = {}};
  out.bytes.resize(values.size_bytes());
  std::memcpy(out.bytes.data(), values.data(), values.size_bytes());
  return out;
}

void subtract_error(Tensor& stored, std::span<const double> output_error) {
  const auto before = stored.floats();
  std::vector<float> values(before.begin(), before.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = output_error[i % output_error.size()];
    values[i] = static_cast<float>(static_cast<double>(values[i]) - error);
  }
  stored = float_tensor(stored.shape, values);
}

std::vector<double> largest_per_scale(const Tensor& stored, std::size_t scale_count) {
  std::vector<double> largest(scale_count, 0.0);
  const auto values = stored.floats();
  const std::size_t channels = scale_count > 1 ? static_cast<std::size_t>(stored.shape.back()) : 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& slot = largest[i % channels % scale_count];
    slot = std::max(slot, std::abs(static_cast<double>(values[i])));
  }
  return largest;
}

bool fit_weight_scales(QuantParams& weight, const std::vector<bool>& is_zero,
                       std::span<const double> largest_bias, const BiasHeadroom& headroom) {
  // The other channels' scale gives an all-zero channel's bias the resolution that theirs have.
  float free_scale = 0;
  for (std::size_t c = 0; c < weight.scales.size(); ++c) {
    if (!is_zero[c]) free_scale = std::max(free_scale, weight.scales[c]);
  }
  std::vector<float> scales = weight.scales;
  for (std::size_t c = 0; c < scales.size(); ++c) {
    const double needed = smallest_scale(largest_bias[c]);
    if (is_zero[c] && largest_bias[c] > 0) scales[c] = free_scale;
    if (scales[c] * headroom.input_scale >= needed) continue;
    if (!is_zero[c] && shows_in_output(needed, headroom)) return false;
    const double raised = at_least(needed / headroom.input_scale, weight.scale_type);
    if (!std::isfinite(raised) || is_degenerate(raised, weight.scale_type)) return false;
    scales[c] = static_cast<float>(raised);
  }
  weight.scales = std::move(scales);
  return true;
}

double adjusted_weight_scale(double input_scale, double weight_scale, double largest_bias,
                             ElementType value_type, bool is_per_channel) {
  const auto round = [value_type](double value) { return round_to(value_type, value); };
  double with_margin = kMargin * (2 * largest_bias);
  if (const double rounded = round(round(kMargin) * round(2 * largest_bias));
      is_per_channel && std::isfinite(rounded)) {
    with_margin = rounded;
  }
  const double needed = with_margin / (2 * kInt32Max);
  const double product = input_scale * weight_scale;
  if (product >= needed || product <= 0) return weight_scale;
  const double raised = at_least(weight_scale * (needed / product), value_type);
  return std::isfinite(raised) ? raised : weight_scale;
}

QuantParams product_bias_params(const Tensor& stored, const QuantParams& weight,
                                const BiasFactors& factors) {
  const std::size_t count =
      weight.scales.size() > 1 ? static_cast<std::size_t>(stored.shape.back()) : 1;
  std::vector<float> scales = scale_products(weight, count, factors);
  const bool is_float16 = factors.value_type == ElementType::Float16;
  const std::vector<double> largest = largest_per_scale(stored, count);
  if (!is_float16 || holds_all(scales, largest)) {
    QuantParams params = int32_params(stored, std::move(scales));
    params.scale_type = factors.value_type;
    return params;
  }
  scales = scale_products(weight, count, {factors.input_scale, factors.beta, ElementType::Float});
  for (std::size_t i = 0; i < count; ++i) {
    const double needed = largest[i] / kInt32Max * kMargin;
    scales[i] = static_cast<float>(std::max(double{scales[i]}, needed));
    if (scales[i] == 0) scales[i] = 1;
  }
  return int32_params(stored, std::move(scales));
}

QuantParams product_bias_params(const Tensor& stored, const QuantParams& weight,
                                float input_scale) {
  return product_bias_params(stored, weight, BiasFactors{.input_scale = input_scale});
}

QuantParams own_bias_params(const Tensor& stored, std::span<const double> largest_bias) {
  const std::size_t count =
      largest_bias.size() > 1 ? static_cast<std::size_t>(stored.shape.back()) : 1;
  std::vector<float> scales(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto scale = static_cast<float>(smallest_scale(largest_bias[i % largest_bias.size()]));
    scales[i] = std::isnormal(scale) ? scale : 1.0F;
  }
  return int32_params(stored, std::move(scales));
}

std::vector<std::byte> quantize_bias(const Tensor& stored, const QuantParams& params) {
  const auto values = stored.floats();
  std::vector<std::int32_t> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scale = params.scales[i % params.scales.size()];
    out[i] = static_cast<std::int32_t>(std::clamp(
        std::nearbyint(static_cast<double>(values[i]) / scale), -kInt32Max - 1, kInt32Max));
  }
  std::vector<std::byte> bytes(out.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), out.data(), bytes.size());
  return bytes;
}

}  // namespace qtool
