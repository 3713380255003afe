#include "quantize/existing_pairs.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "model/float_values.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

bool is_op(const onnx::NodeProto& node, std::string_view op_type) {
  return node.op_type() == op_type &&
         (is_default_domain(node.domain()) || node.domain() == "com.microsoft");
}

/// The node that makes `value`, in this graph or one around it; nullptr where none does.
const onnx::NodeProto* maker_of(const GraphView& graph, const std::string& value) {
  const GraphView* owner = graph.owner_of(value);
  const int index = owner ? owner->producer_of(value) : -1;
  return index < 0 ? nullptr : &owner->node(index);
}

/// Operators between a DequantizeLinear and its reader, or a value and its QuantizeLinear, that are
/// looked past.
constexpr int kMaxBetween = 64;

/// The axis of a Transpose's result that is `axis` of its input, or -1.
std::int64_t transposed_axis(const onnx::NodeProto& transpose, std::int64_t axis) {
  const auto* perm = find_attribute(transpose, "perm");
  if (!perm) return -1;
  const auto found = std::ranges::find(perm->ints(), axis);
  return found == perm->ints().end() ? -1 : found - perm->ints().begin();
}

}  // namespace

bool is_quantized_operator(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear")) return true;
  if (is_default_domain(node.domain()))
    return type.starts_with("QLinear") || type == "ConvInteger" || type == "MatMulInteger" ||
           type == "DynamicQuantizeLinear";
  static constexpr std::array<std::string_view, 6> kContrib = {
      "GatherBlockQuantized",     "MatMulBnb4", "MatMulNBits", "QAttention",
      "QEmbedLayerNormalization", "QGemm"};
  return node.domain() == "com.microsoft" &&
         (type.starts_with("QLinear") || type.starts_with("DynamicQuantize") ||
          type.find("Integer") != std::string::npos ||
          std::ranges::find(kContrib, type) != kContrib.end());
}

void refuse_quantized(const Model& model) {
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    const auto found = std::ranges::find_if(graph.node(), is_quantized_operator);
    if (found == graph.node().end()) return;
    throw Error(ErrorKind::Input,
                printable(model.path().string()) + ": is quantized already: found " +
                    describe(*found) + ", expected a float model",
                "without refuse_quantized what is missing is added to it");
  });
}

bool carries_pairs(const Model& model) {
  std::unordered_set<std::string_view> constants;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
  });
  bool found = false;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    found = found || std::ranges::any_of(graph.node(), [&](const onnx::NodeProto& node) {
              return is_op(node, "QuantizeLinear") ||
                     (is_op(node, "DequantizeLinear") && constants.contains(node.input(0)));
            });
  });
  return found;
}

ExistingPairs::ExistingPairs(const Model& model, const GraphView& graph)
    : model_(model), graph_(graph) {
  holds_.reserve(static_cast<std::size_t>(graph.node_count()));
  for (const auto& node : graph.graph().node()) {
    const bool is_own = is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear");
    holds_.push_back(!is_own && (reads_dequantized(node) ||
                                 std::ranges::any_of(node.output(), [&](const auto& output) {
                                   return is_quantized(output);
                                 })));
  }
}

/// The DequantizeLinear that `value` comes from by way of `moves`, the last one first.
const onnx::NodeProto* ExistingPairs::dequantizer_of(
    const std::string& value, std::vector<const onnx::NodeProto*>& moves) const {
  const auto* maker = maker_of(graph_, value);
  while (maker && !is_op(*maker, "DequantizeLinear")) {
    if (!passes_quantizers(maker->op_type()) || moves.size() == kMaxBetween) return nullptr;
    moves.push_back(maker);
    maker = maker_of(graph_, maker->input(0));
  }
  return maker;
}

bool ExistingPairs::reads_dequantized(const onnx::NodeProto& node) const {
  return std::ranges::any_of(node.input(), [&](const std::string& input) {
    std::vector<const onnx::NodeProto*> moves;
    return dequantizer_of(input, moves) != nullptr;
  });
}

bool ExistingPairs::is_quantized(const std::string& value) const {
  std::string current = value;
  for (int steps = 0; steps < kMaxBetween; ++steps) {
    const auto uses = graph_.uses_of(current);
    const auto quantizes = [&](const Use& use) {
      return is_op(graph_.node(use.node), "QuantizeLinear") && use.slot == 0;
    };
    if (std::ranges::any_of(uses, quantizes)) return true;
    if (uses.size() != 1 || uses.front().slot != 0) return false;
    const auto& reader = graph_.node(uses.front().node);
    if (!is_op(reader, "Relu") && !is_op(reader, "Clip")) return false;
    current = reader.output(0);
  }
  return false;
}

std::optional<QuantParams> ExistingPairs::params_of(const std::string& value) const {
  std::vector<const onnx::NodeProto*> moves;
  const auto* dequantizer = dequantizer_of(value, moves);
  auto params = dequantizer ? params_at(*dequantizer) : std::nullopt;
  for (; params && params->axis && !moves.empty(); moves.pop_back()) {
    if (!is_op(*moves.back(), "Transpose")) return std::nullopt;
    params->axis = transposed_axis(*moves.back(), *params->axis);
    if (*params->axis < 0) return std::nullopt;
  }
  return params;
}

std::optional<QuantParams> ExistingPairs::params_at(const onnx::NodeProto& dequantizer) const {
  if (int_attribute(dequantizer, "block_size", 0) != 0 || dequantizer.input_size() < 2)
    return std::nullopt;
  const onnx::TensorProto* scale = graph_.initializer(dequantizer.input(1));
  if (!scale || graph_.is_graph_input(dequantizer.input(1)) || scale->dims_size() > 1)
    return std::nullopt;
  const ElementType type = element_type(*scale);
  if (type != ElementType::Float && type != ElementType::Float16) return std::nullopt;
  QuantParams params{.type = graph_.type_of(dequantizer.input(0)),
                     .scales = to_float32(model_.tensor(*scale)),
                     .zero_points = {},
                     .scale_type = type};
  if (params.scales.empty()) return std::nullopt;
  if (params.scales.size() > 1) {
    const auto shape = graph_.shape_of(dequantizer.input(0));
    if (!shape) return std::nullopt;
    params.axis = normalized_axis(int_attribute(dequantizer, "axis", 1), shape->size());
  }
  return params;
}

}  // namespace qtool
