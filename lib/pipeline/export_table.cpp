#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "calibrate/calibration_cache.h"
#include "calibrate/estimate.h"
#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "calibrate/tensorrt_cache.h"
#include "pipeline/activation_levels.h"
#include "pipeline/calibrate.h"
#include "pipeline/describe_table.h"
#include "pipeline/publish_table.h"
#include "report/table.h"

namespace qtool {
namespace {

std::string exported(const CalibrationTable& table, const FileDigest& file, ExportFormat format,
                     const Config& config) {
  const int threads = config.threads > 0 ? config.threads : available_cores();
  const CalibrationMethod method = config.calibration.method;
  const TensorRanges ranges = estimate_ranges(table.tensors, config.calibration,
                                              activation_levels(config.quantization), threads);
  switch (format) {
    case ExportFormat::Json: {
      TableReport report = describe_table(table, file);
      add_ranges(report, ranges, method);
      return to_json_text(to_json(report));
    }
    case ExportFormat::OnnxRuntime:
      return calibration_cache(ranges, method);
    case ExportFormat::TensorRt:
      return tensorrt_cache(ranges);
  }
  return {};
}

}  // namespace

CalibrateReport run_export(const Config& config, ExportFormat format, const RunContext& context) {
  const std::string where = printable(config.model.input->string());
  const std::string bytes = read_file(*config.model.input);
  const CalibrationTable table = parse_table(bytes, where);
  check_kind(table, statistics_for(config.calibration), where);
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
