#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/tensor.h"
#include "quantize/plan.h"

namespace qtool {

/// What decides whether a channel's weights may be quantized more coarsely so that its bias fits
/// int32.
struct BiasHeadroom {
  double input_scale = 1;
  double input_levels = 255;  ///< values that the quantized input can take, less one
  std::size_t products = 1;   ///< products that are summed into one output value
  double output_step = 0;     ///< scale of the node's output; 0 where that stays float
};

/// The bias's values times `factor`, in the shape that is stored: [C] where it is constant but
/// along the last axis, else its own shape; with several `channels` the last axis is broadcast to
/// them. Nothing where that axis does not fit.
std::optional<Tensor> stored_bias(const Tensor& bias, std::size_t channels, float factor);

/// Takes the error of each output channel, which the last axis counts, out of a stored bias.
void subtract_error(Tensor& stored, std::span<const double> output_error);

/// A float32 tensor of these values.
Tensor float_tensor(std::vector<std::int64_t> shape, std::span<const float> values);

/// Largest absolute value of a stored bias per weight scale; channel i belongs to scale i modulo
/// `scale_count`.
std::vector<double> largest_per_scale(const Tensor& stored, std::size_t scale_count);

/// Raises scales of `weight` that are so small that the bias would overflow int32: freely where a
/// channel is all zero
/// (`is_zero`), else only where the coarser weights cannot show in the output (docs/numerics.md,
/// "Bias"). False, and nothing changed, where that cannot be promised.
bool fit_weight_scales(QuantParams& weight, const std::vector<bool>& is_zero,
                       std::span<const double> largest_bias, const BiasHeadroom& headroom);

/// int32 parameters with scale = input scale x weight scale, per channel where the weight is.
QuantParams product_bias_params(const Tensor& stored, const QuantParams& weight, float input_scale);

/// int32 parameters with the smallest scales that hold the values.
QuantParams own_bias_params(const Tensor& stored, std::span<const double> largest_bias);

/// round_half_even(value / scale), saturated to int32.
std::vector<std::byte> quantize_bias(const Tensor& stored, const QuantParams& params);

}  // namespace qtool
