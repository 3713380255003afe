#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "calibrate/estimate.h"
#include "calibrate/minmax.h"
#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "calibrate/tensorrt_cache.h"
#include "pipeline/cache_content.h"
#include "pipeline/calibrate.h"
#include "pipeline/calibration_samples.h"
#include "pipeline/describe_table.h"
#include "pipeline/publish_table.h"
#include "quantize/params.h"
#include "report/table.h"

namespace qtool {
namespace {

void add_channel_ranges(TableReport& report, const CalibrationTable& table,
                        const CalibrationConfig& config) {
  for (RecordedTensor& tensor : report.tensors) {
    tensor.channel_ranges =
        channel_ranges(tensor.name, table.channel_extremes.at(tensor.name), config);
  }
}

std::string exported(const CalibrationTable& table, const FileDigest& file, ExportFormat format,
                     const Config& config) {
  const bool is_cache = format == ExportFormat::OnnxRuntime;
  if (is_cache && config.calibration.per_channel) {
    return calibration_cache_text(cache_of_channels(table.channel_extremes, config.calibration));
  }
  if (is_cache) return calibration_cache_text(cache_of_statistics(table.tensors, config));
  const int threads = config.threads > 0 ? config.threads : available_cores();
  const CalibrationMethod method = config.calibration.method;
  const TensorRanges ranges = estimate_ranges(table.tensors, config.calibration,
                                              activation_levels(config.quantization), threads);
  switch (format) {
    case ExportFormat::Json: {
      TableReport report = describe_table(table, file);
      add_ranges(report, ranges, method);
      if (config.calibration.per_channel) add_channel_ranges(report, table, config.calibration);
      return to_json_text(to_json(report));
    }
    case ExportFormat::TensorRt:
      return tensorrt_cache(ranges);
    case ExportFormat::OnnxRuntime:
      break;
  }
  return {};
}

void check_exportable(const CalibrationConfig& config, ExportFormat format) {
  if (config.per_channel && format == ExportFormat::TensorRt) {
    throw Error(ErrorKind::Usage,
                "calibration.per_channel: a tensor has one range in this format, expected json or "
                "onnxruntime");
  }
  if (config.method == CalibrationMethod::Distribution && format != ExportFormat::OnnxRuntime) {
    throw Error(
        ErrorKind::Usage,
        "calibration.method: 'distribution' gives no ranges, expected another for this format",
        "--export onnxruntime writes averages and deviations");
  }
}

}  // namespace

CalibrateReport run_export(const Config& config, ExportFormat format, const RunContext& context) {
  check_exportable(config.calibration, format);
  const std::string where = printable(config.model.input->string());
  const std::string bytes = read_file(*config.model.input);
  const CalibrationTable table = parse_table(bytes, where);
  check_kind(table, statistics_for(config.calibration), where);
  check_sample_extremes(table, needs_sample_extremes(config.calibration), where);
  check_channel_extremes(table, config.calibration.per_channel, where);
  check_stride(config.calibration, table.origin.total_samples);
  CalibrateReport report;
  report.provenance = current_provenance();
  report.config = config;
  report.form = "export";
  report.inputs = {digest_of(*config.model.input, bytes)};
  report.total_samples = table.origin.total_samples;
  report.sample_count = table.samples.size();
  report.tensor_count = table.tensors.size();
  if (!table.is_complete()) {
    report.warnings.push_back(fmt::format("{}: holds {} of {} samples", where, report.sample_count,
                                          report.total_samples));
    context.log.warn("{}", report.warnings.back());
  }
  const std::string text = exported(table, report.inputs.front(), format, config);
  throw_if_interrupted();
  publish_table(report, text);
  return report;
}

}  // namespace qtool
