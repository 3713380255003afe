#include "quantize/bias_correction.h"

#include <algorithm>
#include <string_view>

#include "quantize/params.h"

namespace qtool {
namespace {

constexpr std::string_view kName = "bias_correction";

std::int64_t attribute(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return attribute.i();
  }
  return otherwise;
}

/// A weight as output channels x summed channels x the rest.
struct WeightLayout {
  std::size_t outputs = 0;
  std::size_t summed = 0;  ///< of one group
  std::size_t inner = 1;
  std::size_t groups = 1;
  bool is_transposed = false;  ///< summed x outputs in memory
};

WeightLayout layout_of(const onnx::NodeProto& node, const Tensor& weight) {
  WeightLayout out;
  if (weight.shape.size() < 2) return out;
  const auto first = static_cast<std::size_t>(weight.shape[0]);
  const auto second = static_cast<std::size_t>(weight.shape[1]);
  out.is_transposed = node.op_type() == "Gemm" && attribute(node, "transB", 0) == 0;
  out.outputs = out.is_transposed ? second : first;
  out.summed = out.is_transposed ? first : second;
  for (std::size_t i = 2; i < weight.shape.size(); ++i)
    out.inner *= static_cast<std::size_t>(weight.shape[i]);
  if (node.op_type() == "Conv")
    out.groups = static_cast<std::size_t>(std::max<std::int64_t>(1, attribute(node, "group", 1)));
  return out;
}

}  // namespace

bool corrects_biases(const QuantizationConfig& config, const Placement& placement) {
  if (!config.algorithms) return placement.corrects_biases && !config.per_channel;
  return std::ranges::any_of(*config.algorithms,
                             [](const Algorithm& algorithm) { return algorithm.name == kName; });
}

std::int64_t summed_axis(const onnx::NodeProto& node) {
  if (node.op_type() == "Conv") return 1;
  if (node.op_type() == "Gemm") return attribute(node, "transA", 0) == 0 ? 1 : 0;
  return -1;
}

std::vector<double> mean_output_error(const onnx::NodeProto& node, const Tensor& weight,
                                      const QuantParams& params, std::span<const double> means) {
  const WeightLayout layout = layout_of(node, weight);
  if (layout.outputs % layout.groups != 0 || means.size() != layout.summed * layout.groups)
    return {};
  const auto values = weight.floats();
  std::vector<double> out(layout.outputs, 0.0);
  const std::size_t outputs_of_group = layout.outputs / layout.groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / layout.inner;
    const std::size_t output = layout.is_transposed ? row % layout.outputs : row / layout.summed;
    const std::size_t summed = layout.is_transposed ? row / layout.outputs : row % layout.summed;
    const std::size_t scale = params.scales.size() > 1 ? output : 0;
    const ScaleAndZero of_channel{params.scales[scale], params.zero_points[scale]};
    const std::int32_t stored = quantize_value(values[i], of_channel, params.type);
    const double error = static_cast<double>(of_channel.scale) * (stored - of_channel.zero_point) -
                         static_cast<double>(values[i]);
    out[output] += error * means[output / outputs_of_group * layout.summed + summed];
  }
  return out;
}

}  // namespace qtool
