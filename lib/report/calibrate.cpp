#include "report/calibrate.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/describe.h"
#include "report/figures.h"
#include "report/model_json.h"
#include "report/run_facts.h"

namespace qtool {
namespace {

std::string file_text(const FileDigest& file) {
  return fmt::format("{}, {}", file.path.native(), format_bytes(file.bytes));
}

std::string samples_text(const CalibrateReport& report) {
  std::string out = fmt::format("{} of {}", report.sample_count, report.total_samples);
  if (report.shard) out += fmt::format(", shard {}/{}", report.shard->index, report.shard->count);
  if (report.form == "record" && report.new_sample_count < report.sample_count &&
      !report.config.dry_run)
    out += fmt::format(", {} of them new", report.new_sample_count);
  return out;
}

Facts facts_of(const CalibrateReport& report) {
  Facts facts;
  for (const FileDigest& input : report.inputs) facts.emplace_back("input", file_text(input));
  facts.emplace_back("output", report.config.dry_run ? std::string("nothing written: a dry run")
                                                     : file_text(report.output));
  facts.emplace_back("samples", samples_text(report));
  facts.emplace_back("tensors", std::to_string(report.tensor_count));
  if (report.config.report.manifest && !report.config.dry_run)
    facts.emplace_back("manifest", report.output.path.native() + ".manifest.json");
  return facts;
}

JsonValue calibration_json(const CalibrateReport& report) {
  JsonObject object;
  if (report.form == "record") object.add("data", report.config.calibration.data);
  if (!report.calibration_sha256.empty()) object.add("sha256", report.calibration_sha256);
  if (report.shard)
    object.add("shard", fmt::format("{}/{}", report.shard->index, report.shard->count));
  return object.add("sample_count", report.sample_count)
      .add("total_samples", report.total_samples)
      .take();
}

}  // namespace

Document to_document(const CalibrateReport& report) {
  Document out;
  out.title = report.config.model.output ? report.config.model.output->filename().native()
                                         : std::string("calibration table");
  out.sections.push_back({"", facts_of(report)});
  Table table{{{"stage"}, {"seconds", true}}, {}};
  for (const auto& [stage, seconds] : report.seconds)
    table.rows.push_back({stage, fmt::format("{:.3f}", seconds)});
  if (!table.rows.empty()) out.sections.push_back({"time", std::move(table), true});
  return out;
}

void add_calibrate_members(JsonObject& object, const CalibrateReport& report) {
  object.add("form", report.form)
      .add("inputs", json_list(report.inputs, file_json))
      .add("output", report.config.dry_run ? JsonValue() : file_json(report.output))
      .add("calibration", calibration_json(report))
      .add("tensor_count", report.tensor_count);
  if (report.has_channel_maxima) object.add("per_channel_statistics", true);
  if (!report.second_moments.empty()) object.add("second_moments", report.second_moments);
  object.add("config", write_value(report.config)).add("warnings", report.warnings);
}

JsonValue to_json(const CalibrateReport& report) {
  JsonObject object;
  object.add("command", "calibrate");
  add_calibrate_members(object, report);
  return object.add("new_sample_count", report.new_sample_count)
      .add("notes", report.notes)
      .add("seconds", times_json(report.seconds))
      .take();
}

}  // namespace qtool
