#include "quantize/bias_planner.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "quantize/bias.h"
#include "quantize/params.h"

namespace qtool {
namespace {

/// What a bias is stored with.
enum class BiasScale {
  Product,  ///< of the input's and the weight's scale
  Own,      ///< one that holds the values
  None,     ///< it stays float
};

/// A request with its values at hand.
struct PreparedBias {
  const BiasRequest* request;
  Tensor stored;
  std::vector<double> largest;  ///< per weight scale
  BiasScale scale = BiasScale::Product;
};

/// What decides whether a weight gives way to a bias.
struct BiasFit {
  const std::vector<bool>& is_zero;  ///< channels of the weight
  std::span<const double> largest;   ///< of the bias, per weight scale
  std::size_t input_bits = 8;
  std::optional<double> output_step;  ///< unset: the output stays float
};

const TensorPlan& at(const QuantPlan& plan, int index) {
  return plan.tensors[static_cast<std::size_t>(index)];
}

constexpr std::array kZero{0.0F};

void skip(const GraphView& graph, const BiasRequest& request, const std::string& reason,
          QuantPlan& plan) {
  const auto& node = graph.node(request.use.node);
  plan.skipped.push_back({request.use.node, node.name(), node.op_type(), request.name, reason});
}

std::optional<PreparedBias> prepare(const Model& model, const GraphView& graph,
                                    const BiasRequest& request, QuantPlan& plan) {
  const onnx::TensorProto* values = graph.initializer(request.name);
  const QuantParams& weight = at(plan, request.weight_plan).params;
  if (weight.axis && *weight.axis != request.channel_axis) {
    skip(graph, request, "the bias has no scale: the weight's lie along another axis", plan);
    return std::nullopt;
  }
  const std::size_t scales = weight.scales.size();
  std::size_t channels = scales > 1 ? scales * static_cast<std::size_t>(request.groups) : 1;
  if (!request.output_error.empty()) channels = request.output_error.size();
  auto stored = stored_bias(values ? model.tensor(*values) : float_tensor({1}, kZero), channels,
                            request.factor);
  if (stored && !request.output_error.empty()) subtract_error(*stored, request.output_error);
  if (!stored) {
    skip(graph, request, "the bias does not fit the weight's channels", plan);
    return std::nullopt;
  }
  std::vector<double> largest = largest_per_scale(*stored, scales);
  for (const double value : largest) {
    if (!(value < 1e300)) {
      skip(graph, request, "holds NaN or infinity", plan);
      return std::nullopt;
    }
  }
  return PreparedBias{&request, std::move(*stored), std::move(largest)};
}

/// What the scales of the planned tensors allow, `output_step` apart.
BiasHeadroom headroom(const GraphView& graph, const BiasRequest& request, const QuantPlan& plan) {
  const TensorPlan& input = at(plan, request.input_plan);
  const TensorPlan& weight = at(plan, request.weight_plan);
  const onnx::TensorProto& values = *graph.initializer(weight.name);
  const QuantParams& seen = params_seen_by(input, {request.use.node, 0});
  const IntegerRange levels = full_range(seen.type);
  BiasHeadroom out{.input_scale = seen.scales.front(),
                   .input_levels = static_cast<double>(levels.max) - levels.min,
                   .products = element_count(values),
                   .output_step = 0};
  if (request.channel_axis < values.dims_size()) {
    const auto channels =
        static_cast<std::size_t>(values.dims(static_cast<int>(request.channel_axis)));
    if (channels > 0) out.products /= channels;
  }
  return out;
}

/// Scale of every quantized activation; a folded Relu's or Clip's input is quantized as its output
/// is.
std::unordered_map<std::string, float> output_steps(const QuantPlan& plan) {
  std::unordered_map<std::string, float> steps;
  for (const TensorPlan& tensor : plan.tensors) {
    if (tensor.role == TensorPlan::Role::Activation)
      steps[tensor.name] = tensor.params.scales.front();
  }
  for (const FoldedNode& folded : plan.folded) steps[folded.input] = steps[folded.output];
  return steps;
}

/// Raises the weight's scales until int32 holds the bias, if they may be raised so far.
///
/// Runtimes that compute with 8-bit integers take the product for the bias's scale whatever that
/// is, and make a float bias such an int32 one, where the output is quantized: there the weights
/// give way. Where the output stays float so does the bias, and all is exact.
BiasScale fit_weight(const BiasFit& fit, QuantParams& weight, BiasHeadroom room) {
  const auto fits = [&] { return fit_weight_scales(weight, fit.is_zero, fit.largest, room); };
  room.output_step = fit.output_step.value_or(0);
  if (fits()) return BiasScale::Product;
  if (!fit.output_step) return BiasScale::None;
  if (fit.input_bits > 8) return BiasScale::Own;
  room.output_step = std::numeric_limits<double>::infinity();
  return fits() ? BiasScale::Product : BiasScale::None;
}

}  // namespace

void plan_biases(const Model& model, const GraphView& graph, std::span<const BiasRequest> requests,
                 const ZeroChannels& zero_channels, const ExtraOptions& options, QuantPlan& plan) {
  const auto steps = output_steps(plan);
  std::vector<PreparedBias> biases;
  for (const BiasRequest& request : requests) {
    if (auto bias = prepare(model, graph, request, plan)) biases.push_back(std::move(*bias));
  }
  for (PreparedBias& bias : biases) {
    TensorPlan& weight = plan.tensors[static_cast<std::size_t>(bias.request->weight_plan)];
    const auto zeros = zero_channels.find(bias.request->weight_plan);
    // The scale of a computed weight is its range, and not to be chosen.
    const bool is_constant =
        weight.role == TensorPlan::Role::Constant && zeros != zero_channels.end();
    if (!is_constant || options.qdq_disable_weight_adjust_for_int32_bias) continue;
    const auto step = steps.find(graph.node(bias.request->use.node).output(0));
    const BiasFit fit{
        .is_zero = zeros->second,
        .largest = bias.largest,
        .input_bits = element_bits(at(plan, bias.request->input_plan).params.type),
        .output_step = step == steps.end() ? std::nullopt : std::optional<double>(step->second)};
    bias.scale = fit_weight(fit, weight.params, headroom(graph, *bias.request, plan));
  }
  for (PreparedBias& bias : biases) {
    if (!options.quantize_bias && bias.scale != BiasScale::Own) continue;
    const BiasRequest& request = *bias.request;
    if (bias.scale == BiasScale::None) {
      skip(graph, request, "int32 cannot hold the bias at the scale of the weights", plan);
      continue;
    }
    const TensorPlan& input = at(plan, request.input_plan);
    const TensorPlan& weight = at(plan, request.weight_plan);
    const bool is_corrected = !request.output_error.empty();
    const std::string product =
        "scale=" + input.name + "*" + weight.name + (is_corrected ? ", corrected" : "");
    const BiasFactors factors{
        .input_scale = params_seen_by(input, {request.use.node, 0}).scales.front(),
        .value_type = weight.value_type};
    TensorPlan out{.name = request.name,
                   .role = TensorPlan::Role::Bias,
                   .params = bias.scale == BiasScale::Product
                                 ? product_bias_params(bias.stored, weight.params, factors)
                                 : own_bias_params(bias.stored, bias.largest),
                   .uses = {request.use},
                   .shape = bias.stored.shape,
                   .factor = request.factor,
                   .value_type = weight.value_type,
                   .derivation = bias.scale == BiasScale::Product
                                     ? product
                                     : "own scale: " + product + " is too small"};
    if (is_corrected) {
      const auto values = bias.stored.floats();
      out.values.assign(values.begin(), values.end());
    }
    if (request.factor != 1) plan.scaled_biases.push_back(request.use.node);
    plan.tensors.push_back(std::move(out));
  }
}

}  // namespace qtool
