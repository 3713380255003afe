#include "pipeline/describe_table.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/table_check.h"
#include "config/enum_names.h"

namespace qtool {
namespace {

std::string sample_name(const CalibrationTable& table, std::uint64_t index) {
  return std::ranges::lower_bound(table.samples, index, {}, &TableSample::index)->name;
}

RecordedTensor describe(const std::string& name, const TensorStatistics& statistics,
                        const CalibrationTable& table) {
  RecordedTensor out;
  out.name = name;
  out.value_count = statistics.value_count;
  out.nonfinite_count = statistics.nonfinite_count;
  out.sample_count = statistics.sample_count;
  if (statistics.value_count == 0) return out;
  out.min = statistics.min.value;
  out.max = statistics.max.value;
  out.min_sample = sample_name(table, statistics.min.sample);
  out.max_sample = sample_name(table, statistics.max.sample);
  if (table.origin.kind >= StatisticsKind::Distribution) out.zeros = statistics.zero_count;
  if (table.origin.kind == StatisticsKind::All)
    out.mean = statistics.sum.value() / static_cast<double>(statistics.value_count);
  return out;
}

RecordedWindow describe(const ConvWindow& window, const SecondMoments& moments) {
  return {.kernel = window.kernel,
          .strides = window.strides,
          .dilations = window.dilations,
          .pads = window.pads,
          .auto_pad = auto_pad_name(window.auto_pad),
          .group = window.group,
          .row_length = moments.row_length(),
          .row_count = moments.row_count(),
          .sums_of_squares = moments.diagonal()};
}

/// Nothing for sums alone, which every table has.
std::optional<RecordedChannels> describe(const TableChannels& channels) {
  if (!channels.maxima && !channels.moments && channels.windows.empty()) return std::nullopt;
  RecordedChannels out;
  out.axis = channels.axis;
  out.means = channels.sums.means().value_or(std::vector<double>{});
  if (channels.maxima) {
    for (const float largest : channels.maxima->maxima())
      out.largest.push_back(static_cast<double>(largest));
  }
  if (channels.moments) {
    out.second_moments = moments_name(channels.moments->kind());
    out.row_count = channels.moments->row_count();
    out.sums_of_squares = channels.moments->diagonal();
  }
  for (const auto& [window, moments] : channels.windows)
    out.windows.push_back(describe(window, moments));
  return out;
}

}  // namespace

TableReport describe_table(const CalibrationTable& table, FileDigest file) {
  TableReport out;
  out.file = std::move(file);
  out.qtool_version = table.origin.qtool_version;
  out.onnxruntime_version = table.origin.onnxruntime_version;
  out.model_sha256 = table.origin.model_sha256;
  out.preprocess = table.origin.preprocess;
  out.statistics = kind_name(table.origin.kind);
  out.has_sample_extremes = table.origin.has_sample_extremes;
  out.has_channel_extremes = table.origin.has_channel_extremes;
  out.total_samples = table.origin.total_samples;
  for (const TableSample& sample : table.samples)
    out.samples.push_back({sample.index, sample.name, sample.sha256});
  for (const auto& [name, statistics] : table.tensors)
    out.tensors.push_back(describe(name, statistics, table));
  for (RecordedTensor& tensor : out.tensors) {
    const auto channels = table.channels.find(tensor.name);
    if (channels != table.channels.end()) tensor.channels = describe(channels->second);
    const auto extremes = table.channel_extremes.find(tensor.name);
    if (extremes == table.channel_extremes.end() || extremes->second.is_ragged()) continue;
    for (const kernels::MinMax& channel : extremes->second.channels())
      tensor.channel_ranges.push_back({channel.min, channel.max});
  }
  return out;
}

void add_ranges(TableReport& report, const TensorRanges& ranges, CalibrationMethod method) {
  report.method = enum_name(method);
  for (RecordedTensor& tensor : report.tensors) {
    if (const auto found = ranges.find(tensor.name); found != ranges.end())
      tensor.range = found->second;
  }
}

bool is_table(const std::filesystem::path& path) { return is_table_file(path); }

TableReport run_inspect_table(const Config& config) {
  const std::string bytes = read_file(*config.model.input);
  const CalibrationTable table = parse_table(bytes, printable(config.model.input->string()));
  return describe_table(table, digest_of(*config.model.input, bytes));
}

}  // namespace qtool
