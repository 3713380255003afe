#include <fmt/format.h>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "calibrate/table.h"
#include "calibrate/table_merge.h"
#include "pipeline/calibrate.h"
#include "pipeline/publish_table.h"

namespace qtool {

CalibrateReport run_merge(const Config& config, const std::vector<std::filesystem::path>& tables,
                          const RunContext& context) {
  CalibrateReport report;
  report.provenance = current_provenance();
  report.config = config;
  report.form = "merge";
  TableMerge merge;
  for (const std::filesystem::path& path : tables) {
    throw_if_interrupted();
    const std::string where = printable(path.string());
    const std::string bytes = read_file(path);
    report.inputs.push_back(digest_of(path, bytes));
    merge.add(parse_table(bytes, where), where);
  }
  const CalibrationTable table = merge.take();
  report.total_samples = table.origin.total_samples;
  report.sample_count = table.samples.size();
  report.tensor_count = table.tensors.size();
  if (!table.is_complete()) {
    report.warnings.push_back(
        fmt::format("{}: {} of {} samples are missing", printable(config.model.output->string()),
                    report.total_samples - report.sample_count, report.total_samples));
    context.log.warn("{}", report.warnings.back());
  }
  throw_if_interrupted();
  publish_table(report, table_bytes(table));
  return report;
}

}  // namespace qtool
