#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "config/config.h"
#include "pipeline/calibrate_report.h"
#include "pipeline/channel_options.h"
#include "pipeline/coverage_report.h"
#include "pipeline/run_context.h"

namespace qtool {

struct RecordOptions {
  std::optional<Shard> shard;
  bool resume = false;  ///< what `model.output` holds already is not run again
  ChannelOptions channels = {};
  std::vector<std::string> providers = {};  ///< ONNX Runtime's execution providers; empty: CPU
};

/// Runs `config.model.input` over the samples of `calibration.data` and writes a table of every
/// tensor that a later `static` could ask for to `config.model.output`. An interrupt lets running
/// samples finish and writes the table of what is done; then an `Interrupted` error says how to go
/// on.
CalibrateReport run_record(const Config& config, const RecordOptions& options,
                           const RunContext& context);

/// Joins tables to one, written to `config.model.output`.
CalibrateReport run_merge(const Config& config, const std::vector<std::filesystem::path>& tables,
                          const RunContext& context);

enum class ExportFormat { Json, OnnxRuntime, TensorRt };

/// Writes the table `config.model.input` in another form to `config.model.output`; ranges are those
/// of the config's method.
CalibrateReport run_export(const Config& config, ExportFormat format, const RunContext& context);

/// Runs `config.model.input` over held-out data and tells how the ranges that the config's method
/// derives from `calibration.table` fit it; writes nothing. Each of the folders `data` is a
/// scenario by itself, or holds several (docs/coverage.md).
CoverageReport run_coverage(const Config& config, const std::vector<std::filesystem::path>& data,
                            const RunContext& context);

}  // namespace qtool
