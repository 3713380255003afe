#include "quantize/bias_correction.h"

#include <algorithm>
#include <string_view>

#include "model/model.h"
#include "quantize/params.h"
#include "quantize/weight_layout.h"

namespace qtool {
namespace {

constexpr std::string_view kName = "bias_correction";

}  // namespace

bool corrects_biases(const QuantizationConfig& config, const Placement& placement) {
  if (!config.algorithms) return placement.corrects_biases && !config.per_channel;
  return std::ranges::any_of(*config.algorithms,
                             [](const Algorithm& algorithm) { return algorithm.name == kName; });
}

std::int64_t summed_axis(const onnx::NodeProto& node) {
  if (node.op_type() == "Conv") return 1;
  if (node.op_type() == "Gemm") return int_attribute(node, "transA", 0) == 0 ? 1 : 0;
  return -1;
}

std::vector<double> mean_output_error(const onnx::NodeProto& node, const Tensor& weight,
                                      const QuantParams& params, std::span<const double> means) {
  const WeightLayout layout = weight_layout(node, weight.shape);
  if (layout.outputs == 0 || means.size() != layout.inputs()) return {};
  const auto values = weight.floats();
  std::vector<double> out(layout.outputs, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t output = layout.output_of(i);
    const std::size_t scale = params.scales.size() > 1 ? output : 0;
    const ScaleAndZero of_channel{params.scales[scale], params.zero_points[scale]};
    const std::int32_t stored = quantize_value(values[i], of_channel, params.type);
    const double error = static_cast<double>(of_channel.scale) * (stored - of_channel.zero_point) -
                         static_cast<double>(values[i]);
    out[output] += error * means[layout.input_of(i)];
  }
  return out;
}

}  // namespace qtool
