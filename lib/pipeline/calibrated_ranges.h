#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/progress.h"
#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "pipeline/static_report.h"

namespace qtool {

/// What quantization takes from calibration, and what a report says of where it comes from.
struct CalibratedRanges {
  TensorRanges ranges;
  ChannelMeans means;
  ChannelPeaks peaks;
  CalibrationSource source = CalibrationSource::Data;
  std::size_t sample_count = 0;
  std::string sha256;                    ///< of the source
  std::optional<std::string> new_cache;  ///< what `calibration.cache` is to hold
};

/// Where a run of `static` finds what it must know.
struct CalibrationSources {
  const Config& config;
  std::string model_sha256;
  std::function<void(const std::string&)> warn;
  Progress progress;
};

/// Whether there is anything to take ranges from: `Usage` error where there are neither samples nor
/// a table nor the file of `calibration.cache`.
void require_calibration_source(const Config& config);

/// Whether ranges are to be measured on samples, which neither a cache nor a table makes needless.
bool measures_ranges(const Config& config);

/// The ranges, means and peaks that quantizing `model` asks for: those of `calibration.cache` where
/// that file is there, else of `calibration.table`, else measured on `calibration.data`. `Input`
/// error where cache or table do not serve: they are of another method or model, or lack a tensor.
/// With preset onnxruntime, tensors that a cache lacks are a warning and stay in float.
CalibratedRanges calibrated_ranges(const Model& model, const CalibrationSources& sources);

}  // namespace qtool
