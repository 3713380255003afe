#include "quantize/onnxruntime/bias_plans.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "quantize/bias.h"
#include "quantize/params.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;

/// Weights keep all but two of their bits.
constexpr float kHarmlessRaise = 4;

/// Of an output that stays in float, as fine as eight bits of its bias.
constexpr double kFloatOutputSteps = 255;

/// A bias whose scale is known.
struct ScaledBias {
  const MarkedBias* marked;
  float input_scale = 1;
  int weight_plan = -1;  ///< -1: the weight came quantized
  QuantParams weight;    ///< as it came
  Tensor stored;
  std::vector<double> largest;  ///< per weight scale
  bool has_own_scale = false;
  bool stays_float = false;
};

class BiasPlans {
 public:
  BiasPlans(const Model& model, const GraphView& graph,
            const std::unordered_map<std::string, int>& placed, const ZeroChannels& zero_channels,
            const QuantizationConfig& config, QuantPlan& plan)
      : model_(model),
        graph_(graph),
        placed_(placed),
        zero_channels_(zero_channels),
        config_(config),
        plan_(plan) {}

  void add(std::span<const MarkedBias> biases);

 private:
  const onnx::NodeProto& node_of(const MarkedBias& bias) const {
    return graph_.node(bias.use.node);
  }
  const QuantParams* params_seen_by(const MarkedBias& bias, int slot) const;
  std::optional<QuantParams> params_of_dequantized(const std::string& name) const;
  std::optional<ScaledBias> scale(const MarkedBias& bias);
  const QuantParams& weight_of(const ScaledBias& bias) const;
  bool is_too_coarse(const ScaledBias& bias, std::span<const float> raised) const;
  void raise_weight_scale(ScaledBias& bias);
  std::optional<double> output_step(const ScaledBias& bias) const;
  void add_float8(const MarkedBias& bias);
  TensorPlan plan_of(const ScaledBias& bias) const;
  static void take_readers(const MarkedBias& bias, TensorPlan& plan);
  /// The stored values count beta already.
  void note_beta(const MarkedBias& bias) {
    if (find_attribute(node_of(bias), "beta") != nullptr)
      plan_.scaled_biases.push_back(bias.use.node);
  }
  void skip(const MarkedBias& bias, std::string reason);

  const Model& model_;
  const GraphView& graph_;
  const std::unordered_map<std::string, int>& placed_;
  const ZeroChannels& zero_channels_;
  const QuantizationConfig& config_;
  QuantPlan& plan_;
};

void BiasPlans::skip(const MarkedBias& bias, std::string reason) {
  const auto& node = node_of(bias);
  plan_.skipped.push_back(
      {bias.use.node, node.name(), node.op_type(), bias.initializer, std::move(reason)});
}

/// What the node reads at `slot` is quantized with, or nullptr where that is not planned.
const QuantParams* BiasPlans::params_seen_by(const MarkedBias& bias, int slot) const {
  const auto found = placed_.find(node_of(bias).input(slot));
  if (found == placed_.end()) return nullptr;
  const TensorPlan& plan = plan_.tensors[static_cast<std::size_t>(found->second)];
  return &qtool::params_seen_by(plan, {bias.use.node, slot});
}

/// Scale of a value that the model itself dequantizes.
std::optional<QuantParams> BiasPlans::params_of_dequantized(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  if (producer < 0) return std::nullopt;
  const auto& node = graph_.node(producer);
  if (node.op_type() != "DequantizeLinear" || node.input_size() < 2) return std::nullopt;
  const onnx::TensorProto* scale = graph_.initializer(node.input(1));
  if (!scale || scale->dims_size() > 1) return std::nullopt;
  QuantParams out{.type = graph_.type_of(node.input(0)), .scales = {}, .zero_points = {}};
  out.scales = to_float32(model_.tensor(*scale));
  out.zero_points.assign(out.scales.size(), 0);
  if (out.scales.size() > 1) out.axis = int_attribute(node, "axis", 1);
  if (out.scales.empty()) return std::nullopt;
  return out;
}

const QuantParams& BiasPlans::weight_of(const ScaledBias& bias) const {
  return bias.weight_plan < 0 ? bias.weight
                              : plan_.tensors[static_cast<std::size_t>(bias.weight_plan)].params;
}

std::optional<ScaledBias> BiasPlans::scale(const MarkedBias& bias) {
  const auto given_input = params_of_dequantized(node_of(bias).input(0));
  const QuantParams* input = params_seen_by(bias, 0);
  if (!input && given_input) input = &*given_input;
  auto given_weight = params_of_dequantized(node_of(bias).input(1));
  const QuantParams* weight = params_seen_by(bias, 1);
  const auto placed_weight = placed_.find(node_of(bias).input(1));
  if (!weight && given_weight) weight = &*given_weight;
  if (!input || !weight) {
    skip(bias, "the bias has no scale: not both the input and the weight are quantized");
    return std::nullopt;
  }
  if (input->axis || weight->block_size > 0) {
    skip(bias, "the bias has no scale: the input or the weight has one for each block or channel");
    return std::nullopt;
  }
  if (weight->axis && *weight->axis != bias.layout.channel_axis) {
    skip(bias, "the bias has no scale: the weight's lie along another axis");
    return std::nullopt;
  }
  ScaledBias out{.marked = &bias,
                 .input_scale = input->scales.front(),
                 .weight_plan = placed_weight == placed_.end() ? -1 : placed_weight->second,
                 .weight = given_weight.value_or(QuantParams{}),
                 .stored = {},
                 .largest = {}};
  const std::size_t scales = weight->scales.size();
  const Tensor values = model_.tensor(*graph_.initializer(bias.initializer));
  const std::size_t channels =
      scales > 1 ? scales * static_cast<std::size_t>(bias.layout.groups) : 1;
  auto stored = stored_bias(values, channels, bias.layout.factor);
  if (!stored) {
    skip(bias, "the bias does not fit the weight's channels");
    return std::nullopt;
  }
  out.stored = std::move(*stored);
  if (channels == 1) out.stored.shape = values.shape;
  out.largest = largest_per_scale(out.stored, scales);
  if (std::ranges::any_of(out.largest, [](double value) { return !(value < 1e300); })) {
    skip(bias, "holds NaN or infinity");
    return std::nullopt;
  }
  return out;
}

/// The scale of the node's output, if that is quantized.
std::optional<double> BiasPlans::output_step(const ScaledBias& bias) const {
  std::string output = node_of(*bias.marked).output(0);
  for (const FoldedNode& folded : plan_.folded)
    if (folded.input == output) output = folded.output;
  const auto found = placed_.find(output);
  if (found == placed_.end()) return std::nullopt;
  return plan_.tensors[static_cast<std::size_t>(found->second)].params.scales.front();
}

/// Whether raising the weight's scales rounds away what the output would have shown: a weight is
/// off by half a step, or by all that it is.
bool BiasPlans::is_too_coarse(const ScaledBias& bias, std::span<const float> raised) const {
  const IntegerRange inputs = full_range(params_seen_by(*bias.marked, 0)->type);
  const QuantParams& before = weight_of(bias);
  const IntegerRange weights = full_range(before.type);
  const onnx::TensorProto& weight = *graph_.initializer(node_of(*bias.marked).input(1));
  const BiasHeadroom headroom{
      .input_scale = bias.input_scale,
      .input_levels = static_cast<double>(inputs.max) - inputs.min,
      .products = element_count(weight) / std::max<std::size_t>(bias.stored.element_count(), 1),
      .output_step =
          output_step(bias).value_or(*std::ranges::max_element(bias.largest) / kFloatOutputSteps)};
  const std::vector<bool>& is_zero = zero_channels_.at(bias.weight_plan);
  for (std::size_t i = 0; i < raised.size(); ++i) {
    if (is_zero[i] || raised[i] <= kHarmlessRaise * before.scales[i]) continue;
    const double largest = static_cast<double>(before.scales[i]) * weights.max;
    const double step = std::min(static_cast<double>(raised[i]), 2 * largest);
    if (shows_in_output(step * bias.input_scale, headroom)) return true;
  }
  return false;
}

/// onnxruntime.quantization raises the scale of a weight until its bias fits int32, also where that
/// rounds the weights away. There the bias stays float if the output does. Else it has a scale of
/// its own, but for inputs of 8 bits: kernels that compute with them take the product for it.
void BiasPlans::raise_weight_scale(ScaledBias& bias) {
  if (bias.weight_plan < 0 || config_.extra_options.qdq_disable_weight_adjust_for_int32_bias)
    return;
  TensorPlan& weight = plan_.tensors[static_cast<std::size_t>(bias.weight_plan)];
  const ElementType type = weight.params.type;
  const bool is_signed = type == ElementType::Int8 || type == ElementType::Int16;
  const bool is_symmetric =
      std::ranges::all_of(weight.params.zero_points, [](std::int32_t zero) { return zero == 0; });
  if (weight.role != Role::Constant || !is_signed || !is_symmetric) return;
  std::vector<float> raised = weight.params.scales;
  for (std::size_t i = 0; i < raised.size(); ++i) {
    raised[i] = static_cast<float>(adjusted_weight_scale(bias.input_scale, raised[i],
                                                         bias.largest[i], weight.params.scale_type,
                                                         weight.params.axis.has_value()));
  }
  if (raised == weight.params.scales) return;
  if (is_too_coarse(bias, raised)) {
    bias.stays_float = !output_step(bias).has_value();
    bias.has_own_scale = !bias.stays_float && config_.extra_options.quantize_bias &&
                         element_bits(params_seen_by(*bias.marked, 0)->type) > 8;
    if (bias.stays_float || bias.has_own_scale) return;
  }
  weight.params.scales = std::move(raised);
}

/// With float8 weights a bias stays float32, cast to the type that it had.
void BiasPlans::add_float8(const MarkedBias& bias) {
  const Tensor values = model_.tensor(*graph_.initializer(bias.initializer));
  TensorPlan plan{.name = bias.name,
                  .role = Role::Bias,
                  .params = {.type = ElementType::Float, .scales = {}, .zero_points = {}},
                  .shape = values.shape,
                  .factor = bias.layout.factor,
                  .value_type = values.type,
                  .derivation = "as it is"};
  take_readers(bias, plan);
  plan_.tensors.push_back(std::move(plan));
}

TensorPlan BiasPlans::plan_of(const ScaledBias& bias) const {
  const MarkedBias& marked = *bias.marked;
  const ElementType value_type = graph_.type_of(marked.initializer);
  const std::string product = "scale=" + node_of(marked).input(0) + "*" + node_of(marked).input(1);
  TensorPlan plan{
      .name = marked.name,
      .role = Role::Bias,
      .params = bias.has_own_scale ? own_bias_params(bias.stored, bias.largest)
                                   : product_bias_params(bias.stored, weight_of(bias),
                                                         {.input_scale = bias.input_scale,
                                                          .value_type = value_type}),
      .shape = bias.stored.shape,
      .factor = marked.layout.factor,
      .value_type = value_type,
      .derivation = bias.has_own_scale ? "own scale: " + product + " is too small" : product};
  return plan;
}

/// The first plan of a bias serves all of its readers that have no copy.
void BiasPlans::take_readers(const MarkedBias& bias, TensorPlan& plan) {
  plan.initializer = bias.initializer;
  plan.uses = {bias.use};
  plan.replaces_value = bias.name == bias.initializer;
}

void BiasPlans::add(std::span<const MarkedBias> biases) {
  std::vector<ScaledBias> scaled;
  const bool quantizes = config_.extra_options.quantize_bias;
  for (const MarkedBias& bias : biases) {
    // One that is an operand elsewhere has a plan already, which serves all its readers.
    if (placed_.contains(bias.name)) continue;
    if (config_.weight_type == QuantType::Float8E4M3FN) {
      if (!quantizes) continue;
      add_float8(bias);
      note_beta(bias);
    } else if (auto found = scale(bias)) {
      scaled.push_back(std::move(*found));
    }
  }
  for (ScaledBias& bias : scaled) raise_weight_scale(bias);
  // Runtimes quantize float biases when they load the model, so their weights are raised as well.
  if (!quantizes) return;
  for (const ScaledBias& bias : scaled) {
    if (bias.stays_float) {
      skip(*bias.marked, "int32 cannot hold the bias at the scale of the weights");
      continue;
    }
    TensorPlan plan = plan_of(bias);
    take_readers(*bias.marked, plan);
    note_beta(*bias.marked);
    plan_.tensors.push_back(std::move(plan));
  }
}

}  // namespace

void plan_biases_as_onnxruntime(const Model& model, const GraphView& graph,
                                std::span<const MarkedBias> biases,
                                const std::unordered_map<std::string, int>& placed,
                                const ZeroChannels& zero_channels, const QuantizationConfig& config,
                                QuantPlan& plan) {
  BiasPlans(model, graph, placed, zero_channels, config, plan).add(biases);
}

}  // namespace qtool
