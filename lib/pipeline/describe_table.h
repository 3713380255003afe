#pragma once

#include <filesystem>

#include "calibrate/ranges.h"
#include "calibrate/table.h"
#include "config/config.h"
#include "pipeline/table_report.h"

namespace qtool {

/// Tells what a table holds, without ranges.
TableReport describe_table(const CalibrationTable& table, FileDigest file);

/// Adds ranges and by which method they were found.
void add_ranges(TableReport& report, const TensorRanges& ranges, CalibrationMethod method);

/// Whether a file is a calibration table, by its content.
bool is_table(const std::filesystem::path& path);

/// The same for the file `config.model.input`: `inspect` of a table.
TableReport run_inspect_table(const Config& config);

}  // namespace qtool
