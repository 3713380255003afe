#include "inspect/lint.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/text.h"
#include "inspect/target_rules.h"
#include "model/graph_view.h"
#include "model/tensor.h"
#include "quantize/existing_pairs.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

bool is_quantizer(const onnx::NodeProto& node) {
  return node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear";
}

bool multiplies(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  return type == "Conv" || type == "ConvTranspose" || type == "MatMul" || type == "Gemm";
}

bool is_integer_operator(const onnx::NodeProto& node) {
  return is_quantized_operator(node) && !is_quantizer(node);
}

std::string names_of(std::span<const ElementType> types) {
  std::string out;
  for (const ElementType type : types) out += (out.empty() ? "" : " or ") + element_type_name(type);
  return out;
}

/// Looks at one graph; what it says of the bodies is said by others.
class GraphLint {
 public:
  GraphLint(const Model& model, const GraphView& graph, const TargetRules& rules,
            std::vector<LintFinding>& findings)
      : model_(model), graph_(graph), rules_(rules), findings_(findings) {}

  void run() {
    for (int index = 0; index < graph_.node_count(); ++index) {
      const auto& node = graph_.node(index);
      if (is_quantizer(node)) {
        look_at_quantizer(node);
      } else if (is_integer_operator(node) && !rules_.takes_integer_operators) {
        add(node, "",
            "has no form there, expected QuantizeLinear and DequantizeLinear around " +
                std::string("a float operator"));
      } else if (!rules_.runs_floats) {
        look_at_float(node);
      }
    }
  }

 private:
  void add(const onnx::NodeProto& node, const std::string& tensor, std::string fault) {
    findings_.push_back({describe(node), tensor, std::move(fault)});
  }

  void look_at_quantizer(const onnx::NodeProto& node);
  void look_at_weight(const onnx::NodeProto& dequantizer, const onnx::NodeProto& reader);
  void look_at_float(const onnx::NodeProto& node);
  void check_type(const onnx::NodeProto& node, const std::string& tensor, const char* what,
                  std::span<const ElementType> expected);
  void check_zero_points(const onnx::NodeProto& node, const std::string& tensor, const char* what);
  void check_channels(const onnx::NodeProto& dequantizer, const onnx::NodeProto& reader);

  ElementType stored_type(const onnx::NodeProto& node) const;
  bool has_zero_points(const onnx::NodeProto& node) const;
  std::size_t scale_count(const onnx::NodeProto& node) const;
  std::optional<std::int64_t> output_axis(const onnx::NodeProto& reader, std::size_t rank) const;

  const Model& model_;
  const GraphView& graph_;
  const TargetRules& rules_;
  std::vector<LintFinding>& findings_;
};

/// Of the integers that a QuantizeLinear gives or a DequantizeLinear reads.
ElementType GraphLint::stored_type(const onnx::NodeProto& node) const {
  if (node.op_type() == "DequantizeLinear") {
    const onnx::TensorProto* constant = graph_.initializer(node.input(0));
    if (constant) return element_type(*constant);
  }
  if (node.input_size() > 2 && graph_.initializer(node.input(2)))
    return element_type(*graph_.initializer(node.input(2)));
  const auto given = int_attribute(node, "output_dtype", 0);
  if (given != 0) return static_cast<ElementType>(given);
  const ElementType known =
      graph_.type_of(node.op_type() == "DequantizeLinear" ? node.input(0) : node.output(0));
  return known == ElementType::Undefined ? ElementType::UInt8 : known;
}

/// Whether some zero point is not 0; one that is computed cannot be told.
bool GraphLint::has_zero_points(const onnx::NodeProto& node) const {
  const onnx::TensorProto* zero =
      node.input_size() > 2 ? graph_.initializer(node.input(2)) : nullptr;
  if (!zero || element_bits(element_type(*zero)) < 8 ||
      element_type(*zero) == ElementType::Float8E4M3FN)
    return false;
  return std::ranges::any_of(to_float32(model_.tensor(*zero)),
                             [](float value) { return value != 0; });
}

std::size_t GraphLint::scale_count(const onnx::NodeProto& node) const {
  const onnx::TensorProto* scale =
      node.input_size() > 1 ? graph_.initializer(node.input(1)) : nullptr;
  return scale ? element_count(*scale) : 1;
}

void GraphLint::check_type(const onnx::NodeProto& node, const std::string& tensor, const char* what,
                           std::span<const ElementType> expected) {
  const ElementType type = stored_type(node);
  if (std::ranges::find(expected, type) == expected.end()) {
    add(node, tensor,
        fmt::format("{} is {}, expected {}", what, element_type_name(type), names_of(expected)));
  }
}

void GraphLint::check_zero_points(const onnx::NodeProto& node, const std::string& tensor,
                                  const char* what) {
  if (has_zero_points(node))
    add(node, tensor, fmt::format("{} has a zero point, expected 0: a symmetric range", what));
}

void GraphLint::look_at_quantizer(const onnx::NodeProto& node) {
  if (node.input_size() < 2) return;
  const bool is_dequantizer = node.op_type() == "DequantizeLinear";
  if (is_dequantizer && stored_type(node) == ElementType::Int32) {
    if (!rules_.takes_integer_biases && graph_.initializer(node.input(0)))
      add(node, node.input(0), "bias is quantized, expected float");
    return;
  }
  if (is_dequantizer && graph_.initializer(node.input(0))) {
    for (const Use& use : graph_.uses_of(node.output(0))) {
      const auto& reader = graph_.node(use.node);
      if (use.slot == 1 && multiplies(reader)) return look_at_weight(node, reader);
    }
  }
  // Of a pair the first node is named.
  if (is_dequantizer && graph_.producer_of(node.input(0)) >= 0) return;
  check_type(node, node.input(0), "activation", rules_.activations);
  if (rules_.has_symmetric_activations) check_zero_points(node, node.input(0), "activation");
  if (scale_count(node) > 1)
    add(node, node.input(0), "activation has one scale per channel, expected one in all");
}

void GraphLint::look_at_weight(const onnx::NodeProto& dequantizer, const onnx::NodeProto& reader) {
  const std::string& weight = dequantizer.input(0);
  check_type(dequantizer, weight, "weight", rules_.weights);
  if (rules_.has_symmetric_weights) check_zero_points(dequantizer, weight, "weight");
  if (scale_count(dequantizer) > 1) check_channels(dequantizer, reader);
}

void GraphLint::check_channels(const onnx::NodeProto& dequantizer, const onnx::NodeProto& reader) {
  const std::string& weight = dequantizer.input(0);
  const std::string of_reader = " for " + describe(reader);
  const bool is_convolution = reader.op_type().starts_with("Conv");
  if (rules_.channel_scales == ChannelScales::Nowhere)
    return add(dequantizer, weight, "weight has one scale per channel, expected one in all");
  if (rules_.channel_scales == ChannelScales::Convolutions) {
    if (!is_convolution)
      return add(dequantizer, weight,
                 "weight has one scale per channel, expected one in all" + of_reader);
    if (has_zero_points(dequantizer))
      add(dequantizer, weight, "weight has one scale per channel and a zero point, expected 0");
  }
  const auto rank = static_cast<std::size_t>(graph_.initializer(weight)->dims_size());
  const auto expected = output_axis(reader, rank);
  const std::int64_t axis = normalized_axis(int_attribute(dequantizer, "axis", 1), rank);
  if (expected && axis != *expected) {
    add(dequantizer, weight,
        fmt::format("weight has its scales along axis {}, expected {}{}", axis, *expected,
                    of_reader));
  }
}

/// The axis of a layer's weight that counts its output channels.
std::optional<std::int64_t> GraphLint::output_axis(const onnx::NodeProto& reader,
                                                   std::size_t rank) const {
  const OpRule* row = find_rule(placement_for(Preset::Cpu), reader.op_type(), reader.domain());
  if (row == nullptr) return std::nullopt;
  const OpRule rule =
      row->refine ? row->refine(*row, {reader, graph_, model_, model_.opset()}) : *row;
  return normalized_axis(rule.input(1).channel_axis, rank);
}

/// A device without float kernels leaves to others what reads floats.
void GraphLint::look_at_float(const onnx::NodeProto& node) {
  if (node.op_type() == "Cast" || node.op_type() == "Constant") return;
  for (const std::string& input : node.input()) {
    const ElementType type = graph_.type_of(input);
    const int producer = graph_.producer_of(input);
    const bool is_float = type == ElementType::Float || type == ElementType::Float16;
    const bool is_quantized =
        producer >= 0 && graph_.node(producer).op_type() == "DequantizeLinear";
    if (is_float && !is_quantized && !graph_.initializer(input))
      return add(node, input, "is float, expected a quantized value");
  }
}

void lint_graph(const Model& model, const GraphView& graph, const TargetRules& rules,
                std::vector<LintFinding>& findings) {
  GraphLint(model, graph, rules, findings).run();
  for (const auto& node : graph.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) lint_graph(model, GraphView(attribute.g(), &graph), rules, findings);
    }
  }
}

bool has_quantized_values(const Model& model) {
  bool found = carries_pairs(model);
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    found = found || std::ranges::any_of(graph.node(), is_integer_operator);
  });
  return found;
}

}  // namespace

std::vector<LintFinding> lint(const Model& model, Preset preset) {
  std::vector<LintFinding> findings;
  if (has_quantized_values(model))
    lint_graph(model, GraphView(model.graph()), rules_of(preset), findings);
  return findings;
}

}  // namespace qtool
