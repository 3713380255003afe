#include "pipeline/table_content.h"

#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "config/describe.h"
#include "pipeline/calibration_samples.h"

namespace qtool {
namespace {

/// Means and maxima along another axis than the one that is wanted are none.
CalibrationResult take(CalibrationTable& table, const Collection& wanted) {
  CalibrationResult out;
  for (const std::string& name : wanted.tensors) out.statistics.insert(table.tensors.extract(name));
  for (const AveragedTensor& tensor : wanted.averaged) {
    const auto found = table.channels.find(tensor.name);
    if (found == table.channels.end() || found->second.axis != tensor.axis) continue;
    out.channel_sums[tensor.name] = found->second.sums;
    if (found->second.maxima) out.channel_maxima[tensor.name] = *found->second.maxima;
  }
  for (const TableSample& sample : table.samples) out.samples.push_back(sample.index);
  return out;
}

}  // namespace

std::string preprocess_text(const PreprocessConfig& config) {
  return to_compact_json(write_value(config));
}

TableContent take_from_table(const Config& config, const std::string& model_sha256,
                             const Collection& wanted,
                             const std::function<void(const std::string&)>& warn) {
  const std::string where = printable(config.calibration.table->string());
  const std::string bytes = read_file(*config.calibration.table);
  CalibrationTable table = parse_table(bytes, where);
  const TableNeeds needs{.model_sha256 = model_sha256,
                         .preprocess = preprocess_text(config.preprocess),
                         .kind = wanted.kind,
                         .sample_extremes = wanted.keeps_sample_extremes,
                         .tensors = wanted.tensors};
  check_table(table, needs, where);
  check_stride(config.calibration, table.origin.total_samples);
  if (!table.is_complete()) {
    warn(fmt::format("{}: holds {} of {} samples", where, table.samples.size(),
                     table.origin.total_samples));
  }
  Sha256 hash;
  hash.update(bytes);
  const std::size_t sample_count = table.samples.size();
  return {take(table, wanted), sample_count, hash.hex_digest()};
}

}  // namespace qtool
