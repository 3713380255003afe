#include "inspect/kernel_forecast.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

#include "inspect/fusion_graph.h"
#include "inspect/fusion_rules.h"
#include "model/model.h"

namespace qtool {
namespace {

/// Integer operators as they may stand in a model.
bool is_integer_operator(std::string_view op_type) {
  constexpr std::string_view kOthers[] = {
      "ConvInteger",   "DynamicQuantizeLSTM",     "DynamicQuantizeMatMul",
      "MatMulInteger", "MatMulIntegerToFloat",    "QAttention",
      "QGemm",         "QEmbedLayerNormalization"};
  return op_type.starts_with("QLinear") || std::ranges::find(kOthers, op_type) != std::end(kOthers);
}

void forecast_graph(const Model& model, const onnx::GraphProto& graph, const GraphView* outer,
                    KernelForecast& out);

void forecast_bodies(const Model& model, const onnx::NodeProto& node, const GraphView& outer,
                     KernelForecast& out) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) forecast_graph(model, attribute.g(), &outer, out);
    for (const auto& graph : attribute.graphs()) forecast_graph(model, graph, &outer, out);
  }
}

void forecast_graph(const Model& model, const onnx::GraphProto& graph, const GraphView* outer,
                    KernelForecast& out) {
  const FusionGraph fused(model, graph, outer);
  for (int index = 0; index < graph.node_size(); ++index) {
    const auto& node = graph.node(index);
    forecast_bodies(model, node, fused.view(), out);
    NodeKernel kernel{node.name(), node.op_type(), {}, {}};
    if (is_integer_operator(node.op_type())) {
      kernel.kernel = node.op_type();
    } else if (const FusionRule* rule = find_fusion_rule(node)) {
      if (fused.is_gone(index)) continue;
      kernel.reason = obstacle_to_fusion(fused, *rule, index);
      if (kernel.reason.empty()) kernel.kernel = fused_kernel(fused, *rule, index);
    } else {
      continue;
    }
    kernel.kernel.empty() ? ++out.float_nodes : ++out.integer_kernels[kernel.kernel];
    out.nodes.push_back(std::move(kernel));
  }
}

}  // namespace

KernelForecast forecast_kernels(const Model& model) {
  KernelForecast out;
  forecast_graph(model, model.graph(), nullptr, out);
  return out;
}

}  // namespace qtool
