#include "report/float16.h"

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
constexpr std::size_t kShownClamped = 8;

/// The least cosine of an output; 1 where there is none.
double least_cosine(const Float16Check& check) {
  double least = 1;
  for (const TensorDistance& output : check.outputs) least = std::min(least, output.cosine_min);
  return least;
}

std::string check_text(const Float16Check& check) {
  if (check.sample_count == 0) return check.note.empty() ? "" : "not run: " + check.note;
  return fmt::format("{} {}sample{}, cosine at least {}", check.sample_count,
                     check.made_up ? "made-up " : "", check.sample_count == 1 ? "" : "s",
                     cosine_text(least_cosine(check)));
}

Facts facts_of(const Float16Report& report) {
  Facts facts;
  add_model_facts(
      facts, report.config,
      {report.input_bytes, report.output_bytes, report.opset_before, report.opset_after});
  const std::string& type = report.config.float16.type;
  facts.emplace_back("nodes", fmt::format("{} in {}, {} left in float", report.plan.short_nodes,
                                          type, report.plan.left.size()));
  facts.emplace_back("weights", fmt::format("{} stored in {}", report.stored_weights, type));
  facts.emplace_back("casts", fmt::format("{} added", report.plan.casts_added));
  if (report.search_trials > 0)
    facts.emplace_back("search", fmt::format("{} models tried", report.search_trials));
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

std::vector<Skipped> skipped_nodes(const Float16Plan& plan) {
  std::vector<Skipped> out;
  for (const FloatNode& node : plan.left)
    out.push_back(
        {.node_name = node.node, .op_type = node.op_type, .tensor = {}, .reason = node.reason});
  return out;
}

void add_clamped(Table& table, const ClampedWeight& weight) {
  table.rows.push_back({weight.name, std::to_string(weight.values.above),
                        std::to_string(weight.values.below), figure_text(weight.values.largest)});
}

Table clamped_table() {
  return {{{"tensor"}, {"above", true}, {"below", true}, {"largest", true}}, {}};
}

/// Tensors of which something was cut off; what rises to the least positive value is a detail.
void add_cut_off(std::vector<Section>& out, const Float16Plan& plan) {
  Table table = clamped_table();
  for (const ClampedWeight& weight : plan.clamped)
    if (weight.values.above > 0 && table.rows.size() < kShownClamped) add_clamped(table, weight);
  if (!table.rows.empty()) out.push_back({"clamped values", std::move(table)});
}

Section clamped_details(const Float16Plan& plan) {
  Table table = clamped_table();
  for (const ClampedWeight& weight : plan.clamped) add_clamped(table, weight);
  return {"every tensor with clamped values", std::move(table), true};
}

JsonValue node_counts(const Float16Report& report) {
  return JsonObject()
      .add("converted", report.plan.short_nodes)
      .add("left_in_float", report.plan.left.size())
      .add("casts_added", report.plan.casts_added)
      .take();
}

JsonValue clamped_json(const ClampedWeight& weight) {
  return JsonObject()
      .add("name", weight.name)
      .add("above", weight.values.above)
      .add("below", weight.values.below)
      .add("largest", weight.values.largest)
      .take();
}

JsonValue check_json(const Float16Check& check) {
  return JsonObject()
      .add("samples", check.sample_count)
      .add("made_up", check.made_up)
      .add("outputs", json_list(check.outputs,
                                [](const TensorDistance& output) {
                                  return JsonObject()
                                      .add("name", output.name)
                                      .add("cosine_min", output.cosine_min)
                                      .add("max_abs_error", output.max_abs_error)
                                      .add("nonfinite", output.nonfinite)
                                      .take();
                                }))
      .add("note", check.note)
      .take();
}

}  // namespace

Document to_document(const Float16Report& report) {
  Document out;
  const auto& input = report.config.model.input;
  out.title = fmt::format("{} in {}", input ? input->filename().native() : std::string("model"),
                          report.config.float16.type);
  out.sections.push_back({"", facts_of(report)});
  if (!report.config.dry_run)
    out.sections.push_back(weight_type_section(report.weights_before, report.weights_after));
  const std::vector<Skipped> skipped = skipped_nodes(report.plan);
  const LeftInFloat left = group_left(skipped);
  append(out.sections, left_sections(left, kShownReasons));
  add_cut_off(out.sections, report.plan);
  if (report.verification) append(out.sections, comparison_sections(*report.verification));
  append(out.sections, gate_sections(report.gates));
  append(out.sections, left_details(left));
  if (!report.plan.clamped.empty()) out.sections.push_back(clamped_details(report.plan));
  out.sections.push_back(time_section(report.seconds));
  return out;
}

void add_float16_members(JsonObject& object, const Float16Report& report) {
  const ModelConfig& model = report.config.model;
  object
      .add("input",
           model_json(model.input, report.input_sha256, report.input_bytes, report.opset_before))
      .add("output",
           model_json(model.output, report.output_sha256, report.output_bytes, report.opset_after))
      .add("config", write_value(report.config))
      .add("nodes", node_counts(report))
      .add("weights", weight_types_json(report.weights_before, report.weights_after))
      .add("left_in_float", to_json(group_left(skipped_nodes(report.plan))))
      .add("clamped", json_list(report.plan.clamped, clamped_json))
      .add("search_trials", report.search_trials)
      .add("load_check", report.load_check)
      .add("check", check_json(report.check))
      .add("verification", report.verification ? to_json(*report.verification) : JsonValue())
      .add("gates", to_json(report.gates))
      .add("warnings", report.warnings);
}

JsonValue to_json(const Float16Report& report) {
  JsonObject object;
  object.add("command", "float16");
  add_float16_members(object, report);
  return object.add("notes", report.notes).add("seconds", times_json(report.seconds)).take();
}

}  // namespace qtool
