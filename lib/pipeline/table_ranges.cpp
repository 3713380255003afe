#include "pipeline/table_ranges.h"

#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "config/describe.h"

namespace qtool {

std::string preprocess_text(const PreprocessConfig& config) {
  return to_compact_json(write_value(config));
}

TableRanges ranges_from_table(const Config& config, const std::string& model_sha256,
                              std::span<const std::string> tensors,
                              const std::function<void(const std::string&)>& warn) {
  const std::string where = printable(config.calibration.table->string());
  const std::string bytes = read_file(*config.calibration.table);
  CalibrationTable table = parse_table(bytes, where);
  const TableNeeds needs{.model_sha256 = model_sha256,
                         .preprocess = preprocess_text(config.preprocess),
                         .kind = statistics_for(config.calibration),
                         .tensors = tensors};
  check_table(table, needs, where);
  if (!table.is_complete()) {
    warn(fmt::format("{}: holds {} of {} samples", where, table.samples.size(),
                     table.origin.total_samples));
  }
  std::map<std::string, TensorStatistics> needed;
  for (const std::string& name : tensors) needed.insert(table.tensors.extract(name));
  Sha256 hash;
  hash.update(bytes);
  return {estimate_ranges(needed, config.calibration), table.samples.size(), hash.hex_digest()};
}

}  // namespace qtool
