#include "inspect/fusion_rules.h"

#include <algorithm>
#include <fmt/format.h>

#include "quantize/op_rules.h"

namespace qtool {
namespace {

constexpr FusionRule mover(std::string_view op_type, std::int64_t since_opset = 1) {
  return {.op_type = op_type, .kernel = {}, .keeps_params = true, .since_opset = since_opset};
}

/// Sorted by op_type.
constexpr FusionRule kRules[] = {
    {.op_type = "Add", .kernel = "QLinearAdd", .quantized_inputs = 2},
    {.op_type = "ArgMax", .kernel = {}},
    {.op_type = "AveragePool", .kernel = "QLinearAveragePool"},
    {.op_type = "Concat", .kernel = "QLinearConcat", .quantized_inputs = -1},
    {.op_type = "Conv", .kernel = "QLinearConv", .quantized_inputs = -1},
    mover("DepthToSpace", 13),
    mover("Expand"),
    mover("Flatten"),
    mover("Gather"),
    mover("GatherElements"),
    {.op_type = "Gemm", .kernel = "QGemm", .quantized_inputs = -1, .float_kernel = "QGemm"},
    {.op_type = "GlobalAveragePool", .kernel = "QLinearGlobalAveragePool"},
    {.op_type = "LeakyRelu", .kernel = "QLinearLeakyRelu"},
    {.op_type = "MatMul",
     .kernel = "QLinearMatMul",
     .quantized_inputs = 2,
     .float_kernel = "MatMulIntegerToFloat"},
    mover("MaxPool", 12),
    {.op_type = "Mul", .kernel = "QLinearMul", .quantized_inputs = 2},
    mover("ReduceMax"),
    mover("ReduceMin"),
    mover("Reshape"),
    mover("Resize"),
    {.op_type = "Sigmoid", .kernel = "QLinearSigmoid"},
    mover("Slice"),
    {.op_type = "Softmax", .kernel = "QLinearSoftmax"},
    mover("Split"),
    mover("Squeeze"),
    mover("Tile"),
    mover("Transpose"),
    mover("Unsqueeze"),
    {.op_type = "Where", .kernel = "QLinearWhere", .quantized_inputs = 2, .first_quantized = 1},
};
static_assert(std::ranges::is_sorted(kRules, {}, &FusionRule::op_type),
              "keep kRules sorted by op_type");

int input_count(const onnx::NodeProto& node) {
  return static_cast<int>(
      std::ranges::count_if(node.input(), [](const auto& name) { return !name.empty(); }));
}

bool is_layer(const FusionRule& rule) {
  return rule.op_type == "Conv" || rule.op_type == "MatMul" || rule.op_type == "Gemm";
}

/// Whether ONNX Runtime quantizes a constant weight or bias itself when it loads the model: of a
/// layer between a DQ and a Q, the weight with one scale, and not one of a graph around.
bool quantizes_itself(const FusionGraph& graph, const FusionRule& rule, int index, int slot) {
  const auto& node = graph.view().node(index);
  const auto* values = slot == 0 ? nullptr : graph.constant(node.input(slot));
  if (!values || element_type(*values) != ElementType::Float || rule.op_type == "MatMul" ||
      !is_layer(rule) || (slot == 2 && values->dims_size() != 1) ||
      (slot == 1 && !graph.view().defines(node.input(slot))))
    return false;
  const auto ends = graph.behind(index);
  return ends.size() == 1 && ends.front().kind == End::Kind::Quantized;
}

std::string obstacle_before(const FusionGraph& graph, const FusionRule& rule, int index) {
  const auto& node = graph.view().node(index);
  const int count = rule.quantized_inputs < 0 ? input_count(node) : rule.quantized_inputs;
  const End first = graph.before(index, rule.first_quantized);
  for (int slot = rule.first_quantized; slot < rule.first_quantized + count; ++slot) {
    const End end = graph.before(index, slot);
    if (end.kind == End::Kind::Float && !quantizes_itself(graph, rule, index, slot))
      return fmt::format("its input {} comes as floats", slot);
    if (!is_layer(rule) && end.type != first.type) return "its inputs have different types";
    if (!is_layer(rule) && !end.params) return "a scale or zero point is not one constant";
  }
  if (is_layer(rule) && first.type == ElementType::Int8)
    return "reads int8, and the kernels of x64 uint8";
  if (first.has_half_scale) return "its scales are float16";
  const bool is_small = element_bits(first.type) != 8;
  return is_small ? fmt::format("has no kernel for {}", element_type_name(first.type)) : "";
}

std::string obstacle_behind_node(const FusionGraph& graph, const FusionRule& rule, int index) {
  const auto ends = graph.behind(index);
  const bool is_quantized =
      std::ranges::any_of(ends, [](const End& end) { return end.kind == End::Kind::Quantized; });
  if (!is_quantized && !rule.float_kernel.empty()) {
    const int clamp = graph.clamp_behind(index);
    if (clamp < 0) return "";
    return fmt::format("no quantizer does the work of the {} behind it",
                       graph.view().node(clamp).op_type());
  }
  if (rule.op_type == "ArgMax") return "";
  if (graph.gives_graph_output(index)) return "its output is one of the graph";
  const auto outputs = static_cast<std::size_t>(graph.view().node(index).output_size());
  if (!is_quantized) return "nobody reads its output as integers";
  if (ends.size() != outputs) return "its output is read besides the quantizer";
  const End input = graph.before(index, rule.first_quantized);
  for (const End& end : ends) {
    if (end.kind != End::Kind::Quantized) return "its output is read besides the quantizer";
    if (end.type != input.type) return "gives another type than it reads";
    if (rule.keeps_params && (!end.params || end.params != input.params))
      return "its scale or zero point changes";
  }
  return "";
}

bool is_one(std::int64_t size) { return size == 1; }

/// Whether ONNX Runtime makes one Gemm of the product of `a` with a matrix of `columns` and what is
/// added to it: of more than two axes where all sizes are known and a vector is added.
bool fits_gemm(const std::vector<std::int64_t>& a, std::int64_t columns,
               const std::vector<std::int64_t>& bias) {
  if (bias.size() == 1 && bias[0] == columns)
    return a.size() == 2 || std::ranges::none_of(a, [](std::int64_t size) { return size < 0; });
  if (a.size() != 2 || bias.size() != 2) return false;
  return (is_one(bias[0]) && bias[1] == columns) ||
         (bias[0] == a[0] && a[0] >= 0 && (is_one(bias[1]) || bias[1] == columns));
}

/// The bias of such a Gemm comes as floats, so all of it is computed in float.
bool becomes_gemm(const FusionGraph& graph, int index) {
  const GraphView& view = graph.view();
  const auto& node = view.node(index);
  const auto uses = view.uses_of(node.output(0));
  if (uses.size() != 1 || view.is_graph_output(node.output(0))) return false;
  const auto& reader = view.node(uses.front().node);
  if (reader.op_type() != "Add" || reader.input_size() != 2) return false;
  const auto a = view.shape_of(graph.value_before(index, 0));
  const auto b = view.shape_of(graph.value_before(index, 1));
  const auto bias = view.shape_of(reader.input(1 - uses.front().slot));
  return a && b && bias && b->size() == 2 && fits_gemm(*a, (*b)[1], *bias);
}

std::string own_obstacle(const FusionGraph& graph, const FusionRule& rule, int index) {
  const auto& node = graph.view().node(index);
  const NodeContext context{node, graph.view(), graph.model(), graph.model().opset()};
  if (graph.model().opset() < rule.since_opset)
    return fmt::format("needs opset {}", rule.since_opset);
  if (rule.op_type == "MatMul" && becomes_gemm(graph, index))
    return "becomes a Gemm with the Add behind it, whose bias comes as floats";
  if (rule.op_type == "Resize") return resize_obstacle(context, kCpuProvider);
  const bool has_beta = rule.op_type == "Gemm" && input_count(node) == 3 &&
                        float_attribute(node, "beta", 1.0F) != 1.0F;
  return has_beta ? "its beta is not 1" : "";
}

}  // namespace

const FusionRule* find_fusion_rule(const onnx::NodeProto& node) {
  if (!is_default_domain(node.domain())) return nullptr;
  const std::string_view op_type = node.op_type();
  const auto row = std::ranges::lower_bound(kRules, op_type, {}, &FusionRule::op_type);
  return row == std::end(kRules) || row->op_type != op_type ? nullptr : row;
}

std::string obstacle_to_fusion(const FusionGraph& graph, const FusionRule& rule, int index) {
  std::string found = obstacle_before(graph, rule, index);
  if (found.empty()) found = own_obstacle(graph, rule, index);
  return found.empty() ? obstacle_behind_node(graph, rule, index) : found;
}

int clamp_in_the_way(const FusionGraph& graph, const FusionRule& rule, int index) {
  const int clamp = rule.float_kernel.empty() ? -1 : graph.clamp_behind(index);
  const bool is_in_the_way = clamp >= 0 && obstacle_before(graph, rule, index).empty() &&
                             own_obstacle(graph, rule, index).empty();
  return is_in_the_way ? clamp : -1;
}

std::string fused_kernel(const FusionGraph& graph, const FusionRule& rule, int index) {
  const auto ends = graph.behind(index);
  const bool is_quantized =
      std::ranges::any_of(ends, [](const End& end) { return end.kind == End::Kind::Quantized; });
  if (!is_quantized && !rule.float_kernel.empty()) return std::string(rule.float_kernel);
  return std::string(rule.kernel.empty() ? rule.op_type : rule.kernel);
}

}  // namespace qtool
