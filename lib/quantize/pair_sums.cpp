#include "quantize/pair_sums.h"

#include <algorithm>
#include <limits>

#include "model/model.h"
#include "quantize/constants.h"
#include "quantize/weight_layout.h"

namespace qtool {
namespace {

/// Where the values of a weight stand, and what each is multiplied with.
struct WeightOrder {
  WeightLayout layout;
  std::size_t batches = 1;  ///< matrices in a stack

  std::size_t length() const { return layout.summed * layout.inner; }
  std::size_t columns() const { return batches * layout.outputs; }
  /// Index of the value that is added as number `k` to `column`.
  std::size_t index(std::size_t column, std::size_t k) const {
    const std::size_t output = column % layout.outputs, batch = column / layout.outputs;
    const std::size_t channel = k % layout.summed, position = k / layout.summed;
    if (layout.is_transposed) return (batch * layout.summed + channel) * layout.outputs + output;
    return (output * layout.summed + channel) * layout.inner + position;
  }
  std::size_t outputs_of_group() const { return layout.outputs / layout.groups; }
  /// ONNX Runtime has kernels of their own for these, which widen to 32 bits before they add.
  bool is_depthwise() const {
    return layout.groups > 1 && layout.summed == 1 && layout.outputs == layout.groups;
  }
};

/// Of no columns where the weight is not added in pairs.
WeightOrder order_of(const onnx::NodeProto& node, const Tensor& weight) {
  const bool is_conv = node.op_type() == "Conv", is_matmul = node.op_type() == "MatMul";
  if (!is_conv && !is_matmul && node.op_type() != "Gemm") return {};
  std::vector<std::int64_t> shape = weight.shape;
  if (is_conv && shape.size() < 3) return {};
  WeightOrder out;
  // A vector is a matrix of one column.
  if (is_matmul && shape.size() == 1) shape.push_back(1);
  for (; is_matmul && shape.size() > 2; shape.erase(shape.begin()))
    out.batches *= static_cast<std::size_t>(shape.front());
  out.layout = weight_layout(node, shape);
  return out.is_depthwise() || out.length() == 0 ? WeightOrder{} : out;
}

/// Which scale counts for the value at `index`.
struct ScaleOf {
  std::size_t inner = 1, count = 1;

  ScaleOf(const Tensor& weight, const QuantParams& params) {
    if (!params.axis) return;
    const auto axis = static_cast<std::size_t>(*params.axis);
    count = static_cast<std::size_t>(weight.shape[axis]);
    for (std::size_t i = axis + 1; i < weight.shape.size(); ++i)
      inner *= static_cast<std::size_t>(weight.shape[i]);
  }
  std::size_t operator()(std::size_t index) const { return index / inner % count; }
};

/// The unsigned bytes that kernels see: they flip the sign bit of signed ones.
class UnsignedInputs {
 public:
  explicit UnsignedInputs(const QuantParams& params)
      : type_(params.type),
        params_{params.scales.front(), params.zero_points.front()},
        shift_(params.type == ElementType::Int8 ? 128 : 0) {}

  IntegerRange any() const { return {0, 255}; }
  /// Of values of at most this magnitude, zero among them.
  IntegerRange within(float magnitude) const {
    return {quantize_value(-magnitude, params_, type_) + shift_,
            quantize_value(magnitude, params_, type_) + shift_};
  }

 private:
  ElementType type_;
  ScaleAndZero params_;
  std::int32_t shift_;
};

/// What the values of one group meet, in the order in which they are added.
std::vector<IntegerRange> inputs_of_group(const WeightOrder& order, std::size_t group,
                                          const PairedInput& input) {
  const UnsignedInputs integers(input.params);
  std::vector<IntegerRange> out(order.length(), integers.any());
  if (input.maxima.size() != order.layout.inputs()) return out;
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = integers.within(input.maxima[group * order.layout.summed + k % order.layout.summed]);
  return out;
}

bool is_byte(ElementType type) { return type == ElementType::UInt8 || type == ElementType::Int8; }

}  // namespace

double pair_load(std::span<const std::int8_t> weights, std::span<const IntegerRange> inputs) {
  using Limits = std::numeric_limits<std::int16_t>;
  std::int32_t lowest = 0, highest = 0;
  for (std::size_t first = 0; first < weights.size(); first += 2) {
    std::int32_t low = 0, high = 0;
    for (std::size_t i = first; i < std::min(first + 2, weights.size()); ++i) {
      const std::int32_t a = weights[i] * inputs[i].min, b = weights[i] * inputs[i].max;
      low += std::min(a, b);
      high += std::max(a, b);
    }
    lowest = std::min(lowest, low);
    highest = std::max(highest, high);
  }
  return std::max(double{1} * lowest / Limits::min(), double{1} * highest / Limits::max());
}

std::vector<double> pair_loads(const onnx::NodeProto& node, const Tensor& weight,
                               const QuantParams& params, const PairedInput& input) {
  const WeightOrder order = order_of(node, weight);
  if (order.columns() == 0 || params.type != ElementType::Int8 || params.block_size > 0 ||
      !is_byte(input.params.type) || input.params.scales.size() != 1)
    return {};
  const std::vector<std::byte> bytes = quantize_constant(weight, params);
  const auto* codes = reinterpret_cast<const std::int8_t*>(bytes.data());
  const ScaleOf scale_of(weight, params);
  std::vector<double> out(params.scales.size(), 0);
  std::vector<IntegerRange> inputs;
  std::vector<std::int8_t> column_weights(order.length());
  for (std::size_t column = 0; column < order.columns(); ++column) {
    const bool begins_group = column % order.outputs_of_group() == 0;
    if (column == 0 || (order.layout.groups > 1 && begins_group))
      inputs = inputs_of_group(order, column / order.outputs_of_group(), input);
    for (std::size_t k = 0; k < order.length(); ++k)
      column_weights[k] = codes[order.index(column, k)];
    const double load = pair_load(column_weights, inputs);
    for (std::size_t k = 0; k < order.length(); ++k) {
      double& largest = out[scale_of(order.index(column, k))];
      largest = std::max(largest, load);
    }
  }
  return out;
}

void keep_sums_in_16_bits(const onnx::NodeProto& node, const Tensor& weight,
                          const PairedInput& input, TensorPlan& plan) {
  // Rounding under a wider scale may load a pair a little more than its real values would.
  constexpr double kLeastStep = 1 + 1.0 / 64;
  constexpr double kMostWidening = 2;
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<double> loads = pair_loads(node, weight, plan.params, input);
    if (plan.widening.empty()) plan.widening.resize(loads.size(), 1);
    for (std::size_t i = 0; i < loads.size(); ++i) {
      double& factor = plan.widening[i];
      if (loads[i] <= 1 || factor >= kMostWidening) continue;
      const double wider = std::min(kMostWidening, factor * std::max(loads[i], kLeastStep));
      plan.params.scales[i] = static_cast<float>(plan.params.scales[i] * (wider / factor));
      factor = wider;
      changed = true;
    }
  }
}

}  // namespace qtool
