#include "report/comparison.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "report/figures.h"
#include "report/json_object.h"

namespace qtool {
namespace {

/// What an optional column of the distance table shows, and whether any output has something for
/// it.
struct ExtraColumn {
  std::string title;
  std::string (*text)(const TensorDistance&);
  bool (*is_there)(const TensorDistance&);
};

const ExtraColumn kExtraColumns[] = {
    {"equal",
     [](const TensorDistance& d) {
       return d.equal_share ? share_text(*d.equal_share) : std::string();
     },
     [](const TensorDistance& d) { return d.equal_share.has_value(); }},
    {"not finite", [](const TensorDistance& d) { return std::to_string(d.nonfinite); },
     [](const TensorDistance& d) { return d.nonfinite > 0; }},
    {"skipped", [](const TensorDistance& d) { return std::to_string(d.skipped); },
     [](const TensorDistance& d) { return d.skipped > 0; }},
};

std::vector<Cell> distance_row(const TensorDistance& d) {
  if (d.value_count == 0) return {d.name, "-", "-", "", "-", "-", "-"};
  return {d.name,
          cosine_text(d.cosine_mean),
          cosine_text(d.cosine_min),
          d.worst_sample,
          decibel_text(d.sqnr_db),
          figure_text(d.max_abs_error),
          figure_text(d.mean_abs_error)};
}

Section distance_section(std::string title, const std::vector<TensorDistance>& distances) {
  Table table{{{"output"},
               {"cosine", true},
               {"worst", true},
               {"in sample"},
               {"SQNR", true},
               {"max error", true},
               {"mean error", true}},
              {}};
  for (const TensorDistance& each : distances) table.rows.push_back(distance_row(each));
  for (const ExtraColumn& column : kExtraColumns) {
    if (std::ranges::none_of(distances, column.is_there)) continue;
    table.columns.push_back({column.title, true});
    for (std::size_t i = 0; i < distances.size(); ++i) {
      table.rows[i].emplace_back(column.text(distances[i]));
    }
  }
  return {std::move(title), std::move(table)};
}

JsonValue distance_json(const TensorDistance& d) {
  return JsonObject()
      .add("name", d.name)
      .add("sample_count", d.sample_count)
      .add("skipped", d.skipped)
      .add("value_count", d.value_count)
      .add("cosine_mean", d.cosine_mean)
      .add("cosine_min", d.cosine_min)
      .add("worst_sample", d.worst_sample)
      .add("sqnr_db", d.sqnr_db)
      .add("max_abs_error", d.max_abs_error)
      .add("mean_abs_error", d.mean_abs_error)
      .add("nonfinite", d.nonfinite)
      .add("equal_share", d.equal_share)
      .take();
}

JsonValue uncompared_json(const UncomparedOutput& output) {
  return JsonObject().add("name", output.name).add("reason", output.reason).take();
}

JsonValue top1_json(const Top1& top1) {
  return JsonObject()
      .add("row_count", top1.row_count)
      .add("agreement", top1.agreement)
      .add("reference_accuracy", top1.reference_accuracy)
      .add("accuracy", top1.accuracy)
      .add("drop", top1.drop)
      .take();
}

JsonValue gate_json(const Gate& gate) {
  JsonObject object;
  object.add("name", gate.name)
      .add("limit", gate.limit)
      .add("value", gate.value)
      .add("met", gate.met);
  if (!gate.note.empty()) object.add("note", gate.note);
  if (!gate.failures.empty()) object.add("failures", gate.failures);
  return object.take();
}

/// ` in tensor 'a' and 2 more`, or nothing.
std::string failures_text(const Gate& gate) {
  if (gate.failures.empty()) return {};
  std::string out = fmt::format(" in tensor '{}'", printable(gate.failures.front(), 100));
  if (gate.failures.size() > 1) out += fmt::format(" and {} more", gate.failures.size() - 1);
  return out;
}

bool is_lower_limit(const Gate& gate) { return gate.name.starts_with("min_"); }

}  // namespace

std::vector<Section> comparison_sections(const Comparison& comparison) {
  std::vector<Section> out;
  out.push_back(
      distance_section("distance of the outputs, " + count_text(comparison.sample_count, "sample"),
                       comparison.outputs));
  if (!comparison.expected.empty()) {
    out.push_back(distance_section("reference model against the expected outputs of the data",
                                   comparison.reference_expected));
    out.push_back(distance_section("compared model against the expected outputs of the data",
                                   comparison.expected));
  }
  return out;
}

Facts top1_facts(const Top1& top1) {
  Facts facts;
  if (!top1.agreement) return facts;
  if (top1.accuracy) {
    facts.emplace_back("top-1", fmt::format("{} -> {}", share_text(*top1.reference_accuracy),
                                            share_text(*top1.accuracy)));
  }
  facts.emplace_back("top-1 agreement", fmt::format("{} of {}", share_text(*top1.agreement),
                                                    count_text(top1.row_count, "row")));
  return facts;
}

std::string unmet_gates_text(std::span<const Gate> gates) {
  std::vector<std::string> unmet;
  for (const Gate& gate : gates) {
    if (gate.met) continue;
    unmet.push_back(fmt::format(
        "{} {}{}, expected at {} {:.6g}", gate.name,
        gate.note.empty() ? fmt::format("{:.6g}", gate.value) : "not judged: " + gate.note,
        failures_text(gate), is_lower_limit(gate) ? "least" : "most", gate.limit));
  }
  if (unmet.empty()) return {};
  return fmt::format("gate{} not met: {}", unmet.size() == 1 ? "" : "s", join(unmet, "; "));
}

std::vector<Section> gate_sections(std::span<const Gate> gates) {
  if (gates.empty()) return {};
  Table table{{{"gate"}, {"value", true}, {"limit", true}, {""}}, {}};
  for (const Gate& gate : gates) {
    Cell verdict(gate.met ? "met" : "NOT MET", gate.met ? Tone::Good : Tone::Bad);
    if (!gate.note.empty()) verdict.text += ": " + gate.note;
    verdict.text += failures_text(gate);
    table.rows.push_back(
        {gate.name, gate.note.empty() ? fmt::format("{:.6g}", gate.value) : std::string("-"),
         fmt::format("{} {:.6g}", is_lower_limit(gate) ? ">=" : "<=", gate.limit), verdict});
  }
  return {{"gates", std::move(table)}};
}

JsonValue to_json(const Comparison& comparison) {
  return JsonObject()
      .add("sample_count", comparison.sample_count)
      .add("outputs", json_list(comparison.outputs, distance_json))
      .add("uncompared", json_list(comparison.uncompared, uncompared_json))
      .add("top1", top1_json(comparison.top1))
      .add("expected_outputs",
           comparison.expected.empty()
               ? JsonValue()
               : JsonObject()
                     .add("reference", json_list(comparison.reference_expected, distance_json))
                     .add("compared", json_list(comparison.expected, distance_json))
                     .take())
      .take();
}

JsonValue to_json(std::span<const Gate> gates) { return json_list(gates, gate_json); }

}  // namespace qtool
