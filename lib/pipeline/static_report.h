#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stage_times.h"
#include "config/config.h"
#include "inspect/kernel_forecast.h"
#include "inspect/plan_outcome.h"
#include "pipeline/prediction.h"
#include "pipeline/provenance.h"
#include "pipeline/region_accuracy.h"
#include "preprocess/preprocess.h"
#include "quantize/equalization.h"
#include "quantize/plan.h"
#include "verify/comparison.h"

namespace qtool {

/// Which key of section `calibration` the ranges come from.
enum class CalibrationSource { Data, Table, Cache };

/// Result of `static`; everything that the report and the manifest say.
struct StaticReport {
  Provenance provenance;
  Config config;
  std::string preset_reason;  ///< why the config has its preset, where nobody named it
  std::string input_sha256, output_sha256;
  CalibrationSource calibration_source = CalibrationSource::Data;
  std::string calibration_sha256;  ///< of the samples, or of the file that took their place
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::size_t sample_count = 0;
  std::int64_t opset_before = 0, opset_after = 0;
  PreprocessReport preprocess;
  std::vector<EqualizedWeight> equalized;
  QuantPlan plan;
  PlanOutcome outcome;     ///< of the plan, for the preprocessed model
  Prediction predicted;    ///< before calibration
  KernelForecast kernels;  ///< of the quantized model
  std::string load_check;  ///< `loads`, `skipped`, or why only the checker was asked
  std::optional<Comparison> verification;
  std::vector<RegionAccuracy> regions;  ///< where there is a verification
  std::vector<Gate> gates;
  std::vector<std::string> warnings;
  StageTimes seconds;
};

}  // namespace qtool
