#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// Section `preprocess` as a table keeps it: JSON on one line, every key of it.
std::string preprocess_text(const PreprocessConfig& config);

/// Ranges out of a calibration table, and what a report says of it.
struct TableRanges {
  TensorRanges ranges;
  std::size_t sample_count = 0;
  std::string sha256;  ///< of the table's file
};

/// Takes the ranges of `tensors` from `calibration.table` by the config's method; no sample is run.
/// `Input` error where the table is of another model than the one with this digest, was made with
/// other options, or lacks a tensor. `warn` is told where it does not hold every sample.
TableRanges ranges_from_table(const Config& config, const std::string& model_sha256,
                              std::span<const std::string> tensors,
                              const std::function<void(const std::string&)>& warn);

}  // namespace qtool
