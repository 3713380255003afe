#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/distribution.h"
#include "calibrate/ranges.h"
#include "config/config.h"

namespace qtool {

/// What onnxruntime.quantization caches of a tensor.
struct CachedTensor {
  std::vector<float> lowest;         ///< one value, or one per channel
  std::vector<float> highest;        ///< as many
  std::optional<Spread> spread;      ///< method distribution
  std::vector<std::int64_t> counts;  ///< of a histogram; empty where none was counted
  std::vector<float> edges;          ///< of its bins, one more than counts
};

/// The calibration cache of onnxruntime.quantization.
struct CalibrationCache {
  CalibrationMethod method = CalibrationMethod::MinMax;
  bool smooth_quant = false;  ///< the ranges are those of a model that SmoothQuant changed
  std::map<std::string, CachedTensor> tensors;
  std::vector<std::string> without_range;  ///< names of tensors without a finite value
};

/// A cache of the ends of `ranges`; those of `names` that have none are without a range.
CalibrationCache cache_of(const TensorRanges& ranges, const std::vector<std::string>& names,
                          CalibrationMethod method);

/// The cache as the JSON text that onnxruntime.quantization reads, on one line. Methods that it
/// does not have are MinMax to it, for which the ends are all there is; a key that it passes over
/// says which one it was, and another the tensors without a range.
std::string calibration_cache_text(const CalibrationCache& cache);

/// The cache of a file's content, which `where` names in messages; histograms in it are passed
/// over. `Input` error that names the line and the tensor for what no cache holds: ends that are
/// not finite, are missing, or are more on one side.
CalibrationCache parse_calibration_cache(std::string_view text, const std::string& where);

/// The method's name in onnxruntime.quantization, `MinMax` for those that it does not have.
std::string peer_method_name(CalibrationMethod method);

// Keys that onnxruntime.quantization passes over.
constexpr const char* kCacheMethodKey = "qtool_method";
constexpr const char* kCacheWithoutRangeKey = "qtool_without_range";

}  // namespace qtool
