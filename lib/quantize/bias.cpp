#include "quantize/bias.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace qtool {
namespace {

// A little more than the bias needs, so that rounding the scale to float32 cannot push it over the
// edge.
constexpr double kMargin = 1.0001;
constexpr double kInt32Max = std::numeric_limits<std::int32_t>::max();

double smallest_scale(double largest_bias) { return kMargin * largest_bias / kInt32Max; }

QuantParams int32_params(const Tensor& stored, std::vector<float> scales) {
  QuantParams params{
      .type = ElementType::Int32, .scales = std::move(scales), .zero_points = {}, .axis = {}};
  params.zero_points.assign(params.scales.size(), 0);
  if (params.scales.size() > 1) params.axis = static_cast<std::int64_t>(stored.shape.size()) - 1;
  return params;
}

}  // namespace

std::optional<Tensor> stored_bias(const Tensor& bias, std::size_t channels, float factor) {
  std::vector<std::int64_t> shape = bias.shape;
  while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.empty()) shape.push_back(1);
  const auto last = static_cast<std::size_t>(shape.back());
  const bool broadcasts = channels > 1 && last == 1;
  if (channels > 1 && last != channels && !broadcasts) return std::nullopt;

  std::vector<float> values;
  for (const float value : bias.floats())
    values.insert(values.end(), broadcasts ? channels : 1, value * factor);
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
    // Each of the products is off by at most half a step of the weight times the largest input.
    const double error =
        static_cast<double>(headroom.products) * headroom.input_levels * needed / 2;
    if (!is_zero[c] && error > headroom.output_step / 2) return false;
    const auto raised = static_cast<float>(needed / headroom.input_scale);
    if (!std::isnormal(raised)) return false;
    scales[c] = raised;
  }
  weight.scales = std::move(scales);
  return true;
}

QuantParams product_bias_params(const Tensor& stored, const QuantParams& weight,
                                float input_scale) {
  const std::size_t count =
      weight.scales.size() > 1 ? static_cast<std::size_t>(stored.shape.back()) : 1;
  std::vector<float> scales(count);
  for (std::size_t i = 0; i < count; ++i)
    scales[i] = input_scale * weight.scales[i % weight.scales.size()];
  return int32_params(stored, std::move(scales));
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
