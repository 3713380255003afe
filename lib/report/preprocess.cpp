#include "report/preprocess.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/text.h"
#include "config/describe.h"
#include "report/comparison.h"
#include "report/figures.h"
#include "report/model_json.h"
#include "report/run_facts.h"

namespace qtool {
namespace {

std::string check_text(const PreprocessCheck& check) {
  if (check.sample_count == 0) return check.note.empty() ? "" : "not run: " + check.note;
  return fmt::format("{} {}sample{}, relative error at most {:.2g}", check.sample_count,
                     check.made_up ? "made-up " : "", check.sample_count == 1 ? "" : "s",
                     check.error);
}

JsonValue check_json(const PreprocessCheck& check) {
  return JsonObject()
      .add("samples", check.sample_count)
      .add("made_up", check.made_up)
      .add("relative_error", check.error)
      .add("note", check.note)
      .take();
}

Facts facts_of(const PreprocessResult& result) {
  Facts facts;
  const ModelConfig& model = result.config.model;
  facts.emplace_back("input", fmt::format("{}, {}, opset {}", path_text(model.input),
                                          format_bytes(result.input_bytes), result.opset_before));
  if (result.config.dry_run) {
    facts.emplace_back("output", "nothing written: a dry run");
  } else {
    facts.emplace_back("output",
                       fmt::format("{}, {}, opset {}", path_text(model.output),
                                   format_bytes(result.output_bytes), result.opset_after));
  }
  facts.emplace_back("nodes",
                     fmt::format("{} of {} left", result.nodes_after, result.nodes_before));
  if (result.config.dry_run) return facts;
  if (const std::string text = check_text(result.check); !text.empty())
    facts.emplace_back("check", text);
  facts.emplace_back("load check", result.load_check);
  if (result.verification)
    std::ranges::move(top1_facts(result.verification->top1), std::back_inserter(facts));
  if (result.config.report.manifest)
    facts.emplace_back("manifest", path_text(model.output) + ".manifest.json");
  return facts;
}

/// Passes that changed the number of nodes.
Section pass_section(const PreprocessReport& report) {
  Table table{{{"pass"}, {"nodes before", true}, {"after", true}}, {}};
  for (const PassReport& pass : report.passes) {
    if (pass.nodes_before == pass.nodes_after) continue;
    table.rows.push_back(
        {pass.name, std::to_string(pass.nodes_before), std::to_string(pass.nodes_after)});
  }
  return {"what was done", std::move(table)};
}

Section patterns_section(const PreprocessReport& report) {
  Table table{{{"found", true}, {"pattern"}, {"what makes one operator of it"}}, {}};
  for (const PatternLeft& each : report.patterns_left)
    table.rows.push_back({std::to_string(each.count), each.fusion, each.reason});
  return {"patterns left in single operators", std::move(table)};
}

JsonValue patterns_json(const PreprocessReport& report) {
  return json_list(report.patterns_left, [](const PatternLeft& each) {
    return JsonObject()
        .add("fusion", each.fusion)
        .add("count", each.count)
        .add("reason", each.reason)
        .take();
  });
}

JsonValue node_counts_json(const PreprocessResult& result) {
  return JsonObject().add("before", result.nodes_before).add("after", result.nodes_after).take();
}

}  // namespace

Document to_document(const PreprocessResult& result) {
  Document out;
  const auto& input = result.config.model.input;
  out.title =
      fmt::format("{} preprocessed", input ? input->filename().native() : std::string("model"));
  out.sections.push_back({"", facts_of(result)});
  Section passes = pass_section(result.preprocess);
  if (!std::get<Table>(passes.content).rows.empty()) out.sections.push_back(std::move(passes));
  if (!result.preprocess.patterns_left.empty())
    out.sections.push_back(patterns_section(result.preprocess));
  if (result.verification) append(out.sections, comparison_sections(*result.verification));
  append(out.sections, gate_sections(result.gates));
  out.sections.push_back(time_section(result.seconds));
  return out;
}

void add_preprocess_members(JsonObject& object, const PreprocessResult& result) {
  const ModelConfig& model = result.config.model;
  object
      .add("input",
           model_json(model.input, result.input_sha256, result.input_bytes, result.opset_before))
      .add("output",
           model_json(model.output, result.output_sha256, result.output_bytes, result.opset_after))
      .add("config", write_value(result.config))
      .add("nodes", node_counts_json(result))
      .add("check", check_json(result.check))
      .add("load_check", result.load_check)
      .add("verification", result.verification ? to_json(*result.verification) : JsonValue())
      .add("gates", to_json(result.gates))
      .add("warnings", result.warnings);
}

JsonValue to_json(const PreprocessResult& result) {
  JsonObject object;
  object.add("command", "preprocess");
  add_preprocess_members(object, result);
  return object.add("passes", passes_json(result.preprocess))
      .add("patterns_left", patterns_json(result.preprocess))
      .add("seconds", times_json(result.seconds))
      .take();
}

}  // namespace qtool
