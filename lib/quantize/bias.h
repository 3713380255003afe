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

/// Whether weights so coarse that the bias's scale becomes `bias_scale` can move an output by half
/// a step: each product is off by at most half a step of the weight times the largest input.
bool shows_in_output(double bias_scale, const BiasHeadroom& headroom);

/// The bias's values (float32 or float16) times `factor`, as float32, in the shape that is stored:
/// [C] where it is constant but along the last axis, else its own shape; with several `channels`
/// the last axis is broadcast to them. Nothing where that axis does not fit.
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

/// How ONNX Runtime raises a weight's scale, whatever becomes of the weight, so that a bias as
/// large as `largest_bias` fits int32; the scale itself where it fits. `value_type` is Float or
/// Float16, the type of weight and bias. With `is_per_channel` ONNX Runtime rounds the margin to
/// that type.
double adjusted_weight_scale(double input_scale, double weight_scale, double largest_bias,
                             ElementType value_type, bool is_per_channel = false);

/// What the scale of a bias is made of beside the weight's.
struct BiasFactors {
  float input_scale = 1;
  float beta = 1;  ///< of Gemm, where it is not in the stored values
  /// Float or Float16, the type of the bias: products are rounded to it.
  ElementType value_type = ElementType::Float;
};

/// int32 parameters with scale = input scale x weight scale x beta, per channel where the weight
/// is. For a float16 bias that such scales would clip, or that have none in float16, the scales are
/// float32 and at least as large as the bias needs: `scale_type` is Float then, and what
/// DequantizeLinear gives needs a Cast.
QuantParams product_bias_params(const Tensor& stored, const QuantParams& weight,
                                const BiasFactors& factors);
QuantParams product_bias_params(const Tensor& stored, const QuantParams& weight, float input_scale);

/// int32 parameters with the smallest scales that hold the values. They are float32, also for a
/// float16 bias: such scales are too small for float16.
QuantParams own_bias_params(const Tensor& stored, std::span<const double> largest_bias);

/// round_half_even(value / scale), saturated to int32.
std::vector<std::byte> quantize_bias(const Tensor& stored, const QuantParams& params);

}  // namespace qtool
