#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "pipeline/output_file.h"
#include "pipeline/provenance.h"
#include "pipeline/timed_stage.h"
#include "verify/comparison.h"

namespace qtool {

/// An extreme of a tensor, and the first sample that has it.
struct SampledValue {
  float value = 0;
  std::string sample;
  std::string scenario;  ///< of held-out data: the folder of the sample
};

/// How a tensor's range, which came from calibration data, fits held-out data.
struct TensorCoverage {
  std::string name;
  std::uint64_t value_count = 0;  ///< finite values in the held-out data
  std::uint64_t nonfinite_count = 0;
  std::optional<Range> range;  ///< that it is quantized over; none where calibration saw no value
  std::uint64_t clipped_count = 0;
  std::optional<double> clipped;         ///< share of the values outside of the range
  std::optional<double> range_used;      ///< share of the range that values and zero take
  std::optional<SampledValue> min, max;  ///< of the held-out data
  std::optional<SampledValue> calibration_min, calibration_max;
};

/// The same figures of one tensor in one scenario.
struct ScenarioTensor {
  std::string name;
  double clipped = 0;
  double range_used = 1;
};

/// A folder of held-out samples.
struct ScenarioCoverage {
  std::filesystem::path data;
  std::size_t sample_count = 0;
  std::string sha256;                 ///< of its samples; empty in a dry run
  std::vector<ScenarioTensor> worst;  ///< a few, the worst first
};

/// Result of `calibrate --coverage`.
struct CoverageReport {
  Provenance provenance;
  Config config;
  FileDigest model, table;
  std::uint64_t table_samples = 0;  ///< that the table holds
  std::size_t tensor_count = 0;     ///< of the table
  std::vector<ScenarioCoverage> scenarios;
  std::vector<TensorCoverage> tensors;  ///< the worst first; empty in a dry run
  std::vector<Gate> gates;
  std::vector<std::string> warnings;
  StageTimes seconds;
};

}  // namespace qtool
