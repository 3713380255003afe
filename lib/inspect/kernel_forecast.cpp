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

void forecast_graph(const Model& model, const onnx::GraphProto& graph, KernelForecast& out) {
  const FusionGraph fused(model, graph);
  for (int index = 0; index < graph.node_size(); ++index) {
    const auto& node = graph.node(index);
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
  for_each_graph(model.graph(),
                 [&](const onnx::GraphProto& graph) { forecast_graph(model, graph, out); });
  return out;
}

}  // namespace qtool
