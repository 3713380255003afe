#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "calibrate/calibrate.h"
#include "config/config.h"

namespace qtool {

/// Section `preprocess` as a table keeps it: JSON on one line, every key of it.
std::string preprocess_text(const PreprocessConfig& config);

/// What a run takes from a calibration table, and what a report says of it.
struct TableContent {
  CalibrationResult result;
  std::size_t sample_count = 0;
  std::string sha256;  ///< of the table's file
};

/// Takes what is `wanted` from `calibration.table`; no sample is run. `Input` error where the table
/// is of another model than the one with this digest, was made with other options, or lacks a
/// tensor. `warn` is told where it does not hold every sample.
TableContent take_from_table(const Config& config, const std::string& model_sha256,
                             const Collection& wanted,
                             const std::function<void(const std::string&)>& warn);

}  // namespace qtool
