#include "config/enum_names.h"
#include "report/inspect.h"
#include "report/json_object.h"
#include "report/kernels.h"
#include "report/left_in_float.h"

namespace qtool {
namespace {

JsonValue opset_json(const OpsetVersion& opset) {
  return JsonObject().add("domain", opset.domain).add("version", opset.version).take();
}

/// Free axes are their names, or null where they have none.
JsonValue tensor_json(const TensorInfo& info) {
  JsonValue shape;
  if (info.has_shape) {
    JsonValue::List axes;
    for (std::size_t i = 0; i < info.shape.size(); ++i) {
      const bool is_named = i < info.symbols.size() && !info.symbols[i].empty();
      axes.push_back(info.shape[i] >= 0 ? to_json(info.shape[i])
                     : is_named         ? to_json(info.symbols[i])
                                        : JsonValue());
    }
    shape = JsonValue(std::move(axes));
  }
  return JsonObject()
      .add("name", info.name)
      .add("type", element_type_name(info.type))
      .add("shape", shape)
      .take();
}

JsonValue operator_json(const OperatorUse& use) {
  return JsonObject()
      .add("domain", use.domain)
      .add("op_type", use.op_type)
      .add("node_count", use.node_count)
      .add("weight_elements", use.weight_elements)
      .add("weight_bytes", use.weight_bytes)
      .take();
}

JsonValue type_json(const TypeUse& use) {
  return JsonObject()
      .add("type", element_type_name(use.type))
      .add("tensor_count", use.tensor_count)
      .add("elements", use.elements)
      .add("bytes", use.bytes)
      .take();
}

JsonValue quantization_json(const InspectReport& report) {
  if (!report.obstacle.empty()) return JsonObject().add("obstacle", report.obstacle).take();
  return JsonObject()
      .add("nodes", node_counts_json(report.outcome))
      .add("left_in_float", to_json(group_left(report.outcome.left)))
      .take();
}

const char* outcome_name(NodeDecision::Outcome outcome) {
  switch (outcome) {
    case NodeDecision::Outcome::Quantized:
      return "quantized";
    case NodeDecision::Outcome::Folded:
      return "folded";
    case NodeDecision::Outcome::Float:
      break;
  }
  return "float";
}

JsonValue value_json(const ExplainedValue& value) {
  return JsonObject()
      .add("name", value.name)
      .add("from", value.source)
      .add("type", value.type)
      .add("becomes", value.becomes)
      .take();
}

JsonValue lint_json(const LintFinding& finding) {
  return JsonObject()
      .add("node", finding.node)
      .add("tensor", finding.tensor)
      .add("fault", finding.fault)
      .take();
}

JsonValue explanation_json(const NodeExplanation& node) {
  return JsonObject()
      .add("name", node.name)
      .add("domain", node.domain)
      .add("op_type", node.op_type)
      .add("decision", outcome_name(node.decision.outcome))
      .add("reason", node.decision.reason)
      .add("inputs", json_list(node.inputs, value_json))
      .add("outputs", json_list(node.outputs, value_json))
      .take();
}

}  // namespace

JsonValue to_json(const InspectReport& report) {
  const ModelSummary& summary = report.summary;
  JsonObject object;
  object.add("command", "inspect")
      .add("path", report.model.path)
      .add("bytes", report.model.bytes)
      .add("ir_version", summary.ir_version)
      .add("producer_name", summary.producer_name)
      .add("producer_version", summary.producer_version)
      .add("graph_name", summary.graph_name)
      .add("opsets", json_list(summary.opsets, opset_json))
      .add("inputs", json_list(summary.inputs, tensor_json))
      .add("outputs", json_list(summary.outputs, tensor_json))
      .add("node_count", summary.node_count)
      .add("subgraph_count", summary.subgraph_count)
      .add("function_count", summary.function_count)
      .add("operators", json_list(summary.operators, operator_json))
      .add("weight_elements", summary.weight_elements)
      .add("weight_bytes", summary.weight_bytes)
      .add("unused_weight_count", summary.unused_weight_count)
      .add("weights", json_list(summary.weights, type_json))
      .add("quantization", quantization_json(report))
      .add("kernels", to_json(report.kernels))
      .add("kernel_nodes", kernel_nodes_json(report.kernels));
  object.add("preset", std::string(enum_name(report.preset)))
      .add("lint", json_list(report.lint, lint_json));
  if (report.explanation) object.add("explanation", explanation_json(*report.explanation));
  return object.add("warnings", report.warnings).take();
}

}  // namespace qtool
