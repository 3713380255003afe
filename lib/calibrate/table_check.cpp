#include "calibrate/table_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "base/some_of.h"
#include "base/text.h"
#include "config/json.h"
#include "model/messages.h"

namespace qtool {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what,
                         const std::string& found, const std::string& expected,
                         const std::string& hint = {}) {
  throw Error(
      ErrorKind::Input,
      fmt::format("{}: calibration table {}: {}, expected {}", where, what, found, expected), hint);
}

void check_text(const std::string& where, const char* what, const std::string& name,
                const std::string& found, const std::string& expected) {
  if (found != expected)
    refuse(where, what, name + " " + printable(found, 100), printable(expected, 100));
}

std::string value_text(const JsonValue* value) {
  return value == nullptr ? "nothing" : to_compact_json(*value);
}

/// Names the first key of section `preprocess` that differs.
void check_preprocess(const std::string& found, const std::string& expected,
                      const std::string& where) {
  if (found == expected) return;
  const JsonValue there = parse_json(found, where, ErrorKind::Input);
  const JsonValue here = parse_json(expected, where, ErrorKind::Input);
  for (const JsonMember& member : std::get<JsonValue::Object>(here.data)) {
    const std::string value = value_text(&member.value);
    const std::string other = value_text(there.find(member.name));
    if (value == other) continue;
    refuse(where, "made with other options", fmt::format("preprocess.{} {}", member.name, other),
           value);
  }
  refuse(where, "made with other options", "other keys in preprocess", "those of this version");
}

void check_model(const std::string& found, const std::string& expected, const std::string& where) {
  check_text(where, "of another model", "SHA-256", found, expected);
}

/// Whether the two hold the same of channels along the same axis.
bool holds_the_same(const TableChannels& a, const TableChannels& b) {
  const bool has_same_moments =
      a.moments ? b.moments && a.moments->kind() == b.moments->kind() : !b.moments;
  const auto first = [](const auto& window) { return window.first; };
  return a.axis == b.axis && a.maxima.has_value() == b.maxima.has_value() && has_same_moments &&
         std::ranges::equal(a.windows, b.windows, {}, first, first);
}

}  // namespace

void check_same_channels(const std::map<std::string, TableChannels>& found,
                         const std::map<std::string, TableChannels>& expected,
                         const std::string& where, const std::string& other) {
  const auto is_same = [](const auto& a, const auto& b) {
    return a.first == b.first && holds_the_same(a.second, b.second);
  };
  if (std::ranges::equal(found, expected, is_same)) return;
  throw Error(
      ErrorKind::Input,
      fmt::format("{}: calibration table of other channels, expected those of {}", where, other),
      "--per-channel-statistics and --second-moments must be the same");
}

void check_tensors(const CalibrationTable& table, std::span<const std::string> needed,
                   const std::string& where) {
  std::vector<std::string> missing;
  for (const std::string& name : needed) {
    if (!table.tensors.contains(name)) missing.push_back(in_quotes(name));
  }
  if (missing.empty()) return;
  refuse(where, "lacks tensors", fmt::format("no {}", some_of(missing)),
         fmt::format("all {} of this run", needed.size()),
         "run qtool calibrate with the same quantization.op_types_to_quantize");
}

void check_kind(const CalibrationTable& table, StatisticsKind needed, const std::string& where) {
  if (table.origin.kind >= needed) return;
  refuse(where, "without what the method needs", "statistics " + kind_name(table.origin.kind),
         kind_name(needed));
}

void check_sample_extremes(const CalibrationTable& table, bool needed, const std::string& where) {
  if (!needed || table.origin.has_sample_extremes) return;
  refuse(where, "without what calibration.stride needs", "no extremes of single samples",
         "those of all samples", "qtool calibrate with calibration.stride records them");
}

void check_channel_extremes(const CalibrationTable& table, bool needed, const std::string& where) {
  if (!needed || table.origin.has_channel_extremes) return;
  refuse(where, "without what calibration.per_channel needs", "no extremes of channels",
         "those of all tensors", "qtool calibrate with calibration.per_channel records them");
}

std::string kind_name(StatisticsKind kind) {
  switch (kind) {
    case StatisticsKind::Extremes:
      return "extremes";
    case StatisticsKind::Distribution:
      return "distribution";
    case StatisticsKind::All:
      break;
  }
  return "all";
}

void check_table(const CalibrationTable& table, const TableNeeds& needs, const std::string& where) {
  check_model(table.origin.model_sha256, needs.model_sha256, where);
  check_preprocess(table.origin.preprocess, needs.preprocess, where);
  check_kind(table, needs.kind, where);
  check_sample_extremes(table, needs.sample_extremes, where);
  check_tensors(table, needs.tensors, where);
}

void check_same_origin(const TableOrigin& found, const TableOrigin& expected,
                       const std::string& where) {
  constexpr const char* kVersion = "of another version";
  constexpr const char* kSamples = "of another sample folder";
  check_model(found.model_sha256, expected.model_sha256, where);
  check_preprocess(found.preprocess, expected.preprocess, where);
  check_text(where, kVersion, "qtool", found.qtool_version, expected.qtool_version);
  check_text(where, kVersion, "ONNX Runtime", found.onnxruntime_version,
             expected.onnxruntime_version);
  check_text(where, "of another kind", "statistics", kind_name(found.kind),
             kind_name(expected.kind));
  const auto word = [](bool is_there) { return is_there ? "recorded" : "not recorded"; };
  check_text(where, "of another kind", "extremes of single samples",
             word(found.has_sample_extremes), word(expected.has_sample_extremes));
  check_text(where, "of another kind", "extremes of channels", word(found.has_channel_extremes),
             word(expected.has_channel_extremes));
  if (found.total_samples != expected.total_samples) {
    refuse(where, kSamples, fmt::format("{} samples", found.total_samples),
           std::to_string(expected.total_samples));
  }
  check_text(where, kSamples, "SHA-256 of the names", found.sample_names_sha256,
             expected.sample_names_sha256);
}

}  // namespace qtool
