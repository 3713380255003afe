#include "report/table.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/figures.h"
#include "report/json_object.h"
#include "report/model_json.h"

namespace qtool {
namespace {

std::string samples_text(const TableReport& report) {
  if (report.samples.size() == report.total_samples)
    return fmt::format("{}, all of the folder", report.total_samples);
  return fmt::format("{} of {}: a part, qtool calibrate --merge joins parts", report.samples.size(),
                     report.total_samples);
}

/// What there is of second moments; nothing where there are none.
std::string moments_text(const TableReport& report) {
  std::string kind;
  std::size_t tensors = 0, windows = 0;
  for (const RecordedTensor& tensor : report.tensors) {
    if (!tensor.channels) continue;
    if (!tensor.channels->second_moments.empty()) {
      kind = tensor.channels->second_moments;
      ++tensors;
    }
    windows += tensor.channels->windows.size();
  }
  if (windows == 0) return tensors == 0 ? "" : fmt::format("{}, of {} tensors", kind, tensors);
  return fmt::format("full, of {} tensors and {} windows of Convs", tensors, windows);
}

Facts facts_of(const TableReport& report) {
  Facts facts = {
      {"table", fmt::format("{}, {}", report.file.path.native(), format_bytes(report.file.bytes))},
      {"made by",
       fmt::format("qtool {}, ONNX Runtime {}", report.qtool_version, report.onnxruntime_version)},
      {"of model", "SHA-256 " + report.model_sha256},
      {"samples", samples_text(report)},
      {"tensors", std::to_string(report.tensors.size())},
      {"statistics", report.statistics +
                         (report.has_sample_extremes ? ", extremes of each sample" : "") +
                         (report.has_channel_extremes ? ", extremes of each channel" : "")}};
  if (const std::string moments = moments_text(report); !moments.empty())
    facts.emplace_back("second moments", moments);
  return facts;
}

/// A share of all finite values, or nothing to say.
std::string zeros_text(const RecordedTensor& tensor) {
  if (!tensor.zeros) return "-";
  return share_text(static_cast<double>(*tensor.zeros) / static_cast<double>(tensor.value_count));
}

std::vector<Cell> row_of(const RecordedTensor& tensor) {
  std::vector<Cell> row = {tensor.name, std::to_string(tensor.value_count)};
  if (tensor.value_count == 0) {
    for (int i = 0; i < 6; ++i) row.emplace_back("-");
  } else {
    row.insert(row.end(), {fmt::format("{:.6g}", tensor.min), tensor.min_sample,
                           fmt::format("{:.6g}", tensor.max), tensor.max_sample, zeros_text(tensor),
                           tensor.mean ? fmt::format("{:.6g}", *tensor.mean) : std::string("-")});
  }
  row.emplace_back(std::to_string(tensor.nonfinite_count));
  return row;
}

Table table_of(const TableReport& report) {
  Table table{{{"tensor"},
               {"values", true},
               {"min", true},
               {"in sample"},
               {"max", true},
               {"in sample"},
               {"zeros", true},
               {"mean", true},
               {"not finite", true}},
              {}};
  for (const RecordedTensor& tensor : report.tensors) table.rows.push_back(row_of(tensor));
  return table;
}

JsonValue sample_json(const RecordedSample& sample) {
  return JsonObject()
      .add("index", sample.index)
      .add("name", sample.name)
      .add("sha256", sample.sha256)
      .take();
}

JsonValue extreme_json(float value, const std::string& sample) {
  return JsonObject().add("value", static_cast<double>(value)).add("sample", sample).take();
}

JsonValue list_json(const std::vector<double>& numbers) {
  return json_list(numbers, [](double number) { return to_json(number); });
}

JsonValue list_json(const std::vector<std::int64_t>& numbers) {
  return json_list(numbers, [](std::int64_t number) { return to_json(number); });
}

JsonValue window_json(const RecordedWindow& window) {
  JsonObject object;
  object.add("kernel", list_json(window.kernel))
      .add("strides", list_json(window.strides))
      .add("dilations", list_json(window.dilations))
      .add("auto_pad", window.auto_pad);
  if (window.auto_pad == "NOTSET") object.add("pads", list_json(window.pads));
  return object.add("group", window.group)
      .add("row_length", window.row_length)
      .add("rows", window.row_count)
      .add("sums_of_squares", list_json(window.sums_of_squares))
      .take();
}

JsonValue channels_json(const RecordedChannels& channels) {
  JsonObject object;
  object.add("axis", channels.axis).add("means", list_json(channels.means));
  if (!channels.largest.empty()) object.add("largest", list_json(channels.largest));
  if (!channels.second_moments.empty()) {
    object.add("second_moments", JsonObject()
                                     .add("kind", channels.second_moments)
                                     .add("rows", channels.row_count)
                                     .add("sums_of_squares", list_json(channels.sums_of_squares))
                                     .take());
  }
  if (!channels.windows.empty()) object.add("windows", json_list(channels.windows, window_json));
  return object.take();
}

JsonValue tensor_json(const RecordedTensor& tensor, bool has_ranges) {
  const bool has_values = tensor.value_count > 0;
  JsonObject object;
  object.add("name", tensor.name);
  if (has_ranges) object.add("range", range_json(tensor.range));
  if (!tensor.channel_ranges.empty()) {
    object.add("channel_ranges", json_list(tensor.channel_ranges,
                                           [](const Range& range) { return range_json(range); }));
  }
  object.add("values", tensor.value_count)
      .add("nonfinite", tensor.nonfinite_count)
      .add("samples", tensor.sample_count)
      .add("min", has_values ? extreme_json(tensor.min, tensor.min_sample) : JsonValue())
      .add("max", has_values ? extreme_json(tensor.max, tensor.max_sample) : JsonValue())
      .add("zeros", tensor.zeros)
      .add("mean", tensor.mean);
  if (tensor.channels) object.add("channels", channels_json(*tensor.channels));
  return object.take();
}

}  // namespace

Document to_document(const TableReport& report) {
  Document out;
  out.title = report.file.path.filename().native();
  out.sections = {{"", facts_of(report)}, {"tensors", table_of(report)}};
  return out;
}

JsonValue to_json(const TableReport& report) {
  JsonObject object;
  object.add("table", report.file.path)
      .add("sha256", report.file.sha256)
      .add("bytes", report.file.bytes)
      .add("versions", JsonObject()
                           .add("qtool", report.qtool_version)
                           .add("onnxruntime", report.onnxruntime_version)
                           .take())
      .add("model_sha256", report.model_sha256)
      .add("preprocess", parse_json(report.preprocess, "preprocess"))
      .add("statistics", report.statistics)
      .add("has_sample_extremes", report.has_sample_extremes)
      .add("has_channel_extremes", report.has_channel_extremes);
  if (!report.method.empty()) object.add("method", report.method);
  return object.add("total_samples", report.total_samples)
      .add("samples", json_list(report.samples, sample_json))
      .add("tensors", json_list(report.tensors,
                                [&](const RecordedTensor& tensor) {
                                  return tensor_json(tensor, !report.method.empty());
                                }))
      .take();
}

}  // namespace qtool
