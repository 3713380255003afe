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

/// Whether an operator that only moves values is given integers themselves, between integer
/// operators.
bool moves_integers(const GraphView& graph, int index) {
  for (;;) {
    const FusionRule* rule = find_fusion_rule(graph.node(index));
    if (!rule || !rule->keeps_params) return false;
    index = graph.producer_of(graph.node(index).input(0));
    if (index < 0) return false;
    const std::string& maker = graph.node(index).op_type();
    if (maker == "QuantizeLinear" || maker.starts_with("QLinear")) return true;
  }
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
    auto kernel = node_kernel(fused, index);
    if (!kernel) continue;
    kernel->kernel.empty() ? ++out.float_nodes : ++out.integer_kernels[kernel->kernel];
    out.nodes.push_back(std::move(*kernel));
  }
}

}  // namespace

std::optional<NodeKernel> node_kernel(const FusionGraph& graph, int index) {
  const auto& node = graph.view().node(index);
  NodeKernel kernel{node.name(), node.op_type(), {}, {}, {}};
  if (is_integer_operator(node.op_type()) || moves_integers(graph.view(), index)) {
    kernel.kernel = node.op_type();
    return kernel;
  }
  const FusionRule* rule = find_fusion_rule(node);
  if (!rule || graph.is_gone(index)) return std::nullopt;
  kernel.reason = obstacle_to_fusion(graph, *rule, index);
  if (kernel.reason.empty()) kernel.kernel = fused_kernel(graph, *rule, index);
  if (const int clamp = clamp_in_the_way(graph, *rule, index); clamp >= 0)
    kernel.clamp = graph.view().node(clamp).output(0);
  return kernel;
}

KernelForecast forecast_kernels(const Model& model) {
  KernelForecast out;
  forecast_graph(model, model.graph(), nullptr, out);
  return out;
}

}  // namespace qtool
