#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "calibrate/calibration_cache.h"
#include "config/config.h"

namespace qtool {

/// The content of `calibration.cache`.
struct RangeCache {
  CalibrationCache content;
  std::string sha256;  ///< of the file
};

/// The cache, where its file is there; one that says otherwise of SmoothQuant than the config is a
/// warning and as good as none. `Input` error where it is no cache or of another method.
std::optional<RangeCache> read_range_cache(const Config& config,
                                           const std::function<void(const std::string&)>& warn);

/// The ranges of `tensors` in the cache. `Input` error, which names the file and the tensors, where
/// it has one per channel or lacks tensors; with preset onnxruntime those are a warning.
TensorRanges take_ranges(const CalibrationCache& cache, std::span<const std::string> tensors,
                         const Config& config, const std::function<void(const std::string&)>& warn);

}  // namespace qtool
