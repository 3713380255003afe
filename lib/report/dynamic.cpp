#include "report/dynamic.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "config/describe.h"
#include "report/comparison.h"
#include "report/figures.h"
#include "report/left_in_float.h"
#include "report/model_json.h"
#include "report/run_facts.h"
#include "report/weight_types.h"

namespace qtool {
namespace {

constexpr std::size_t kShownReasons = 8;

std::string check_text(const OutputCheck& check) {
  if (check.sample_count == 0) return check.note.empty() ? "" : "not run: " + check.note;
  const std::string samples =
      fmt::format("{} made-up sample{}", check.sample_count, check.sample_count == 1 ? "" : "s");
  return check.cosine ? fmt::format("{}, cosine at least {:.6f}", samples, *check.cosine)
                      : samples + " run";
}

JsonValue check_json(const OutputCheck& check) {
  return JsonObject()
      .add("samples", check.sample_count)
      .add("cosine", check.cosine)
      .add("note", check.note)
      .take();
}

Facts facts_of(const DynamicReport& report) {
  Facts facts;
  add_model_facts(
      facts, report.config,
      {report.input_bytes, report.output_bytes, report.opset_before, report.opset_after});
  facts.emplace_back("nodes",
                     fmt::format("{} quantized, {} left in float", report.outcome.quantized_nodes,
                                 report.outcome.float_nodes));
  facts.emplace_back("weights", fmt::format("{} stored in 8 bits", report.plan.weights.size()));
  if (report.config.dry_run) return facts;
  facts.emplace_back("load check", report.load_check);
  if (const std::string text = check_text(report.check); !text.empty())
    facts.emplace_back("check", text);
  if (report.verification)
    std::ranges::move(top1_facts(report.verification->top1), std::back_inserter(facts));
  if (report.config.report.manifest)
    facts.emplace_back("manifest", path_text(report.config.model.output) + ".manifest.json");
  return facts;
}

Section form_section(const DynamicPlan& plan) {
  Table table{{{"nodes", true}, {"operator"}, {"becomes"}}, {}};
  for (const auto& [entry, count] : plan.forms)
    table.rows.push_back({std::to_string(count), entry.first, form_name(entry.second)});
  return {"what was quantized", std::move(table)};
}

JsonValue forms_json(const DynamicPlan& plan) {
  return json_list(plan.forms, [](const auto& each) {
    return JsonObject()
        .add("operator", each.first.first)
        .add("becomes", form_name(each.first.second))
        .add("nodes", each.second)
        .take();
  });
}

Section weight_details(const DynamicPlan& plan) {
  Table table{{{"weight"}, {"type"}, {"scale", true}, {"zero point", true}}, {}};
  for (const StoredWeight& weight : plan.weights) {
    const QuantParams& params = weight.params;
    const bool is_single = params.scales.size() == 1 && params.zero_points.size() == 1;
    table.rows.push_back({weight.source, element_type_name(params.type),
                          is_single ? fmt::format("{:.6g}", params.scales[0])
                                    : count_text(params.scales.size(), "channel"),
                          is_single ? std::to_string(params.zero_points[0]) : std::string()});
  }
  return {"every 8-bit weight", std::move(table), true};
}

JsonValue weight_json(const StoredWeight& weight) {
  const QuantParams& params = weight.params;
  JsonObject object;
  object.add("name", weight.source)
      .add("type", element_type_name(params.type))
      .add("axis", params.axis);
  if (params.scales.size() == 1 && params.zero_points.size() == 1) {
    object.add("scale", static_cast<double>(params.scales[0]))
        .add("zero_point", params.zero_points[0]);
  } else {
    object.add("channel_count", params.scales.size());
  }
  return object.take();
}

}  // namespace

Document to_document(const DynamicReport& report) {
  Document out;
  const auto& input = report.config.model.input;
  out.title =
      fmt::format("{} quantized", input ? input->filename().native() : std::string("model"));
  out.sections.push_back({"", facts_of(report)});
  if (!report.plan.forms.empty()) out.sections.push_back(form_section(report.plan));
  if (!report.config.dry_run)
    out.sections.push_back(weight_type_section(report.weights_before, report.weights_after));
  const LeftInFloat left = group_left(report.outcome.left);
  append(out.sections, left_sections(left, kShownReasons));
  if (report.verification) append(out.sections, comparison_sections(*report.verification));
  append(out.sections, gate_sections(report.gates));
  append(out.sections, left_details(left));
  out.sections.push_back(weight_details(report.plan));
  out.sections.push_back(time_section(report.seconds));
  return out;
}

void add_dynamic_members(JsonObject& object, const DynamicReport& report) {
  const ModelConfig& model = report.config.model;
  object
      .add("input",
           model_json(model.input, report.input_sha256, report.input_bytes, report.opset_before))
      .add("output",
           model_json(model.output, report.output_sha256, report.output_bytes, report.opset_after))
      .add("config", write_value(report.config))
      .add("nodes", node_counts_json(report.outcome))
      .add("quantized", forms_json(report.plan))
      .add("weights", weight_types_json(report.weights_before, report.weights_after))
      .add("left_in_float", to_json(group_left(report.outcome.left)))
      .add("load_check", report.load_check)
      .add("check", check_json(report.check))
      .add("verification", report.verification ? to_json(*report.verification) : JsonValue())
      .add("gates", to_json(report.gates))
      .add("warnings", report.warnings);
}

JsonValue to_json(const DynamicReport& report) {
  JsonObject object;
  object.add("command", "dynamic");
  add_dynamic_members(object, report);
  return object.add("quantized_weights", json_list(report.plan.weights, weight_json))
      .add("passes", passes_json(report.preprocess))
      .add("notes", report.preprocess.notes)
      .add("seconds", times_json(report.seconds))
      .take();
}

}  // namespace qtool
