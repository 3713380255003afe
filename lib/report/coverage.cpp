#include "report/coverage.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <utility>

#include "base/text.h"
#include "config/describe.h"
#include "config/enum_names.h"
#include "report/comparison.h"
#include "report/figures.h"
#include "report/json_object.h"
#include "report/model_json.h"
#include "report/run_facts.h"

namespace qtool {
namespace {

constexpr std::size_t kWorst = 20;
constexpr std::size_t kWorstOfScenario = 3;

std::size_t sample_count(const CoverageReport& report) {
  std::size_t out = 0;
  for (const ScenarioCoverage& scenario : report.scenarios) out += scenario.sample_count;
  return out;
}

std::string data_text(const CoverageReport& report) {
  const std::string samples = count_text(sample_count(report), "sample");
  if (report.scenarios.size() == 1)
    return fmt::format("{}, {}", report.scenarios.front().data.native(), samples);
  return fmt::format("{} of {}", samples, count_text(report.scenarios.size(), "scenario"));
}

/// A share that is not 0 never reads as 0.
std::string clipped_text(double share) {
  if (share > 0 && share < 0.00005) return "< 0.01 %";
  return share_text(share);
}

/// `5, 2 of them with values outside of their ranges`
std::string tensors_text(const CoverageReport& report) {
  const auto clipped = std::ranges::count_if(
      report.tensors, [](const TensorCoverage& tensor) { return tensor.clipped_count > 0; });
  if (report.config.dry_run) return std::to_string(report.tensor_count);
  return fmt::format("{}, {} of them with values outside of their ranges", report.tensor_count,
                     clipped);
}

/// The tensor whose figure is worst, or null where none has one.
template <typename IsWorse>
const TensorCoverage* worst_of(const CoverageReport& report,
                               std::optional<double> TensorCoverage::*figure,
                               const IsWorse& is_worse) {
  const TensorCoverage* worst = nullptr;
  for (const TensorCoverage& tensor : report.tensors) {
    if (tensor.*figure && (worst == nullptr || is_worse(*(tensor.*figure), *(worst->*figure))))
      worst = &tensor;
  }
  return worst;
}

/// Which of many tensors without a clipped value comes first says nothing.
void add_worst(Facts& facts, const CoverageReport& report) {
  const auto* clipped = worst_of(report, &TensorCoverage::clipped, std::greater{});
  if (clipped != nullptr && clipped->clipped_count > 0) {
    facts.emplace_back("most clipped",
                       fmt::format("{} in {}", clipped_text(*clipped->clipped), clipped->name));
  }
  const auto* unused = worst_of(report, &TensorCoverage::range_used, std::less{});
  if (unused != nullptr) {
    facts.emplace_back("least range used",
                       fmt::format("{} in {}", share_text(*unused->range_used), unused->name));
  }
}

Facts facts_of(const CoverageReport& report) {
  Facts facts = {{"model", fmt::format("{}, {}", report.model.path.native(),
                                       format_bytes(report.model.bytes))},
                 {"table", fmt::format("{}, {}", report.table.path.native(),
                                       count_text(report.table_samples, "sample"))},
                 {"method", std::string(enum_name(report.config.calibration.method))},
                 {"data", data_text(report)},
                 {"tensors", tensors_text(report)}};
  add_worst(facts, report);
  if (report.config.dry_run) facts.emplace_back("result", "nothing was run: a dry run");
  return facts;
}

/// Without results, as a dry run has none.
Section planned_scenarios(const CoverageReport& report) {
  Table table{{{"scenario"}, {"samples", true}}, {}};
  for (const ScenarioCoverage& scenario : report.scenarios)
    table.rows.push_back({scenario.data.native(), std::to_string(scenario.sample_count)});
  return {"scenarios", std::move(table)};
}

std::vector<Section> scenario_sections(const CoverageReport& report) {
  if (report.scenarios.size() < 2) return {};
  if (report.config.dry_run) return {planned_scenarios(report)};
  Table table{
      {{"scenario"}, {"samples", true}, {"tensor"}, {"clipped", true}, {"range used", true}}, {}};
  for (const ScenarioCoverage& scenario : report.scenarios) {
    std::vector<Cell> head = {scenario.data.native(), std::to_string(scenario.sample_count)};
    for (const ScenarioTensor& tensor :
         std::span(scenario.worst).first(std::min(scenario.worst.size(), kWorstOfScenario))) {
      std::vector<Cell> row = std::exchange(head, {"", ""});
      row.insert(row.end(),
                 {tensor.name, clipped_text(tensor.clipped), share_text(tensor.range_used)});
      table.rows.push_back(std::move(row));
    }
    if (!scenario.worst.empty()) continue;
    head.insert(head.end(), {"-", "-", "-"});
    table.rows.push_back(std::move(head));
  }
  return {{"worst tensors of each scenario", std::move(table)}};
}

void add_extreme(std::vector<Cell>& row, const std::optional<SampledValue>& extreme,
                 bool has_scenarios) {
  if (!extreme) {
    row.insert(row.end(), {"-", "-"});
    return;
  }
  row.emplace_back(figure_text(static_cast<double>(extreme->value)));
  row.emplace_back(has_scenarios && !extreme->scenario.empty()
                       ? extreme->scenario + "/" + extreme->sample
                       : extreme->sample);
}

std::vector<Cell> row_of(const TensorCoverage& tensor, bool has_scenarios) {
  std::vector<Cell> row = {tensor.name};
  row.emplace_back(tensor.clipped ? clipped_text(*tensor.clipped) : "-",
                   tensor.clipped_count > 0 ? Tone::Bad : Tone::Plain);
  row.emplace_back(tensor.range_used ? share_text(*tensor.range_used) : "-");
  row.emplace_back(tensor.range ? fmt::format("{} .. {}",
                                              figure_text(static_cast<double>(tensor.range->min)),
                                              figure_text(static_cast<double>(tensor.range->max)))
                                : "-");
  add_extreme(row, tensor.min, has_scenarios);
  add_extreme(row, tensor.max, has_scenarios);
  add_extreme(row, tensor.calibration_min, has_scenarios);
  add_extreme(row, tensor.calibration_max, has_scenarios);
  return row;
}

Table table_of(std::span<const TensorCoverage> tensors, bool has_scenarios) {
  Table table{{{"tensor"},
               {"clipped", true},
               {"range used", true},
               {"range", true},
               {"min", true},
               {"in sample"},
               {"max", true},
               {"in sample"},
               {"calibration min", true},
               {"in sample"},
               {"calibration max", true},
               {"in sample"}},
              {}};
  for (const TensorCoverage& tensor : tensors) table.rows.push_back(row_of(tensor, has_scenarios));
  return table;
}

void add_tensor_sections(Document& out, const CoverageReport& report) {
  const std::span<const TensorCoverage> tensors = report.tensors;
  const bool has_scenarios = report.scenarios.size() > 1;
  if (tensors.empty()) return;
  if (tensors.size() <= kWorst) {
    out.sections.push_back({"tensors, the worst first", table_of(tensors, has_scenarios)});
    return;
  }
  out.sections.push_back({fmt::format("the {} worst of {} tensors", kWorst, tensors.size()),
                          table_of(tensors.first(kWorst), has_scenarios)});
  out.sections.push_back({"all tensors", table_of(tensors, has_scenarios), true});
}

JsonValue extreme_json(const std::optional<SampledValue>& extreme) {
  if (!extreme) return {};
  JsonObject object;
  object.add("value", static_cast<double>(extreme->value)).add("sample", extreme->sample);
  if (!extreme->scenario.empty()) object.add("scenario", extreme->scenario);
  return object.take();
}

JsonValue tensor_json(const TensorCoverage& tensor) {
  return JsonObject()
      .add("name", tensor.name)
      .add("values", tensor.value_count)
      .add("nonfinite", tensor.nonfinite_count)
      .add("range", range_json(tensor.range))
      .add("clipped_values", tensor.clipped_count)
      .add("clipped", tensor.clipped)
      .add("range_used", tensor.range_used)
      .add("min", extreme_json(tensor.min))
      .add("max", extreme_json(tensor.max))
      .add("calibration_min", extreme_json(tensor.calibration_min))
      .add("calibration_max", extreme_json(tensor.calibration_max))
      .take();
}

JsonValue scenario_json(const ScenarioCoverage& scenario) {
  const auto worst_json = [](const ScenarioTensor& tensor) {
    return JsonObject()
        .add("name", tensor.name)
        .add("clipped", tensor.clipped)
        .add("range_used", tensor.range_used)
        .take();
  };
  JsonObject object;
  object.add("data", scenario.data).add("sample_count", scenario.sample_count);
  if (!scenario.sha256.empty()) object.add("sha256", scenario.sha256);
  return object.add("worst", json_list(scenario.worst, worst_json)).take();
}

}  // namespace

Document to_document(const CoverageReport& report) {
  Document out;
  out.title = fmt::format("coverage of {}", report.table.path.filename().native());
  out.sections.push_back({"", facts_of(report)});
  std::ranges::move(gate_sections(report.gates), std::back_inserter(out.sections));
  std::ranges::move(scenario_sections(report), std::back_inserter(out.sections));
  add_tensor_sections(out, report);
  return out;
}

JsonValue to_json(const CoverageReport& report) {
  return JsonObject()
      .add("command", "calibrate")
      .add("form", "coverage")
      .add("model", file_json(report.model))
      .add("table", file_json(report.table))
      .add("method", std::string(enum_name(report.config.calibration.method)))
      .add("sample_count", sample_count(report))
      .add("tensor_count", report.tensor_count)
      .add("scenarios", json_list(report.scenarios, scenario_json))
      .add("tensors", json_list(report.tensors, tensor_json))
      .add("gates", to_json(std::span(report.gates)))
      .add("config", write_value(report.config))
      .add("warnings", report.warnings)
      .add("seconds", times_json(report.seconds))
      .take();
}

}  // namespace qtool
