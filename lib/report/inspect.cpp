#include "report/inspect.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "config/enum_names.h"
#include "report/figures.h"
#include "report/kernels.h"
#include "report/left_in_float.h"

namespace qtool {
namespace {

constexpr std::size_t kShownReasons = 20;

std::string opset_text(const std::vector<OpsetVersion>& opsets) {
  std::vector<std::string> words;
  words.reserve(opsets.size());
  for (const OpsetVersion& each : opsets) {
    words.push_back(each.domain.empty() ? std::to_string(each.version)
                                        : fmt::format("{} {}", each.domain, each.version));
  }
  return join(words);
}

std::string graph_text(const ModelSummary& summary) {
  std::string out = count_text(summary.node_count, "node");
  if (summary.subgraph_count > 0) out += ", " + count_text(summary.subgraph_count, "subgraph");
  if (summary.function_count > 0) out += ", " + count_text(summary.function_count, "function");
  return out;
}

std::string weight_text(const ModelSummary& summary) {
  std::string out = fmt::format("{}, {}", count_text(summary.weight_elements, "value"),
                                format_bytes(summary.weight_bytes));
  if (summary.unused_weight_count > 0) {
    out += fmt::format(", {} not read", count_text(summary.unused_weight_count, "tensor"));
  }
  return out;
}

std::string quantized_text(const InspectReport& report) {
  if (!report.obstacle.empty()) return "unknown: " + report.obstacle;
  const PlanOutcome& outcome = report.outcome;
  const std::size_t taken = outcome.quantized_nodes + outcome.folded_nodes;
  return fmt::format("{} of {} after preprocessing", taken,
                     count_text(taken + outcome.float_nodes, "node"));
}

Facts facts_of(const InspectReport& report) {
  const ModelSummary& summary = report.summary;
  Facts facts = {{"model", fmt::format("{}, {}", report.model.path.native(),
                                       format_bytes(report.model.bytes))}};
  const std::string producer = summary.producer_name.empty() ? "not named" : summary.producer_name;
  facts.emplace_back("producer", summary.producer_version.empty()
                                     ? producer
                                     : producer + " " + summary.producer_version);
  facts.emplace_back("opset", opset_text(summary.opsets));
  facts.emplace_back("IR version", std::to_string(summary.ir_version));
  facts.emplace_back("graph", graph_text(summary));
  facts.emplace_back("weights", weight_text(summary));
  if (!report.kernels.nodes.empty()) facts.emplace_back("kernels", kernels_text(report.kernels));
  const std::string preset(enum_name(report.preset));
  facts.emplace_back("preset", report.preset_reason.empty()
                                   ? preset
                                   : fmt::format("{}: {}", preset, report.preset_reason));
  facts.emplace_back("would be quantized", quantized_text(report));
  return facts;
}

Table value_table(const std::vector<TensorInfo>& infos) {
  Table table{{{"name"}, {"type"}}, {}};
  for (const TensorInfo& info : infos) table.rows.push_back({info.name, describe(info)});
  return table;
}

Table type_table(const ModelSummary& summary) {
  Table table{{{"type"}, {"tensors", true}, {"values", true}, {"size", true}}, {}};
  for (const TypeUse& use : summary.weights) {
    table.rows.push_back({element_type_name(use.type), std::to_string(use.tensor_count),
                          std::to_string(use.elements), format_bytes(use.bytes)});
    if (summary.weight_bytes > 0) {
      table.rows.back().back().bar =
          static_cast<double>(use.bytes) / static_cast<double>(summary.weight_bytes);
    }
  }
  return table;
}

Table lint_table(const std::vector<LintFinding>& findings) {
  Table table{{{"node"}, {"tensor"}, {"fault"}}, {}};
  for (const LintFinding& finding : findings)
    table.rows.push_back({finding.node, finding.tensor, finding.fault});
  return table;
}

std::string operator_name(const std::string& domain, const std::string& op_type) {
  return domain.empty() ? op_type : domain + "." + op_type;
}

Table operator_table(const ModelSummary& summary) {
  Table table{{{"operator"}, {"nodes", true}, {"values", true}, {"size", true}}, {}};
  for (const OperatorUse& use : summary.operators) {
    table.rows.push_back({operator_name(use.domain, use.op_type), std::to_string(use.node_count),
                          std::to_string(use.weight_elements), format_bytes(use.weight_bytes)});
    if (summary.weight_bytes > 0) {
      table.rows.back().back().bar =
          static_cast<double>(use.weight_bytes) / static_cast<double>(summary.weight_bytes);
    }
  }
  return table;
}

std::string decision_text(const NodeDecision& decision) {
  switch (decision.outcome) {
    case NodeDecision::Outcome::Quantized:
      return "quantized";
    case NodeDecision::Outcome::Folded:
      return "folded away: the quantizer behind it does its work where the measured range allows";
    case NodeDecision::Outcome::Float:
      break;
  }
  return "stays in float: " + decision.reason;
}

Table explained_values(const std::vector<ExplainedValue>& values) {
  Table table{{{"name"}, {"from"}, {"type"}, {"becomes"}}, {}};
  for (const ExplainedValue& value : values) {
    table.rows.push_back({value.name, value.source, value.type, value.becomes});
  }
  return table;
}

Document explanation_document(const NodeExplanation& node) {
  Document out;
  out.title = fmt::format("{} ({})", node.name, operator_name(node.domain, node.op_type));
  out.sections = {{"", Facts{{"node", node.name.empty() ? "not named" : node.name},
                             {"operator", operator_name(node.domain, node.op_type)},
                             {"decision", decision_text(node.decision)}}},
                  {"inputs", explained_values(node.inputs)},
                  {"outputs", explained_values(node.outputs)}};
  return out;
}

}  // namespace

Document to_document(const InspectReport& report) {
  if (report.explanation) return explanation_document(*report.explanation);
  Document out;
  out.title = report.model.path.filename().native();
  const LeftInFloat left = group_left(report.outcome.left);
  out.sections = {{"", facts_of(report)},
                  {"inputs", value_table(report.summary.inputs)},
                  {"outputs", value_table(report.summary.outputs)},
                  {"weights", type_table(report.summary)},
                  {"operators", operator_table(report.summary)}};
  if (!report.lint.empty()) {
    out.sections.push_back(
        {fmt::format("does not suit {}", enum_name(report.preset)), lint_table(report.lint)});
  }
  std::ranges::move(left_sections(left, kShownReasons), std::back_inserter(out.sections));
  std::ranges::move(left_details(left), std::back_inserter(out.sections));
  return out;
}

}  // namespace qtool
