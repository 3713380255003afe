#include "calibrate/estimate.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "calibrate/distribution.h"
#include "calibrate/entropy.h"
#include "calibrate/least_error.h"
#include "calibrate/minmax.h"
#include "calibrate/mse.h"
#include "calibrate/percentile.h"

namespace qtool {
namespace {

/// The ends, and beside them the deviation that float8 is scaled by.
std::optional<Range> spread_range(const TensorStatistics& statistics) {
  const auto found = spread(statistics.density(), SpreadOf::Values);
  if (!found) return std::nullopt;
  return Range{statistics.min.value, statistics.max.value, found->deviation};
}

std::optional<Range> range_of(const TensorStatistics& statistics, const CalibrationConfig& config,
                              const QuantizedLevels& levels) {
  if (!has_range(statistics, config)) return std::nullopt;
  switch (config.method) {
    case CalibrationMethod::MinMax:
      return minmax_range(statistics, config);
    case CalibrationMethod::Percentile:
      return percentile_range(statistics.density(), config);
    case CalibrationMethod::Entropy:
      return entropy_range(statistics.density(), config);
    case CalibrationMethod::Mse:
      return mse_range(statistics.density(), {levels, config.symmetric});
    case CalibrationMethod::Auto:
      return auto_range(statistics.density(), config, levels);
    case CalibrationMethod::Distribution:
      return spread_range(statistics);
  }
  return std::nullopt;
}

}  // namespace

bool has_range(const TensorStatistics& statistics, const CalibrationConfig& config) {
  return statistics.value_count > 0 && (statistics.nonfinite_count == 0 || config.allow_nonfinite);
}

StatisticsKind statistics_for(const CalibrationConfig& config) {
  return config.method == CalibrationMethod::MinMax ? StatisticsKind::Extremes
                                                    : StatisticsKind::Distribution;
}

TensorRanges estimate_ranges(const std::map<std::string, TensorStatistics>& statistics,
                             const CalibrationConfig& config, const QuantizedLevels& levels,
                             int threads) {
  if (config.method == CalibrationMethod::Entropy) require_enough_bins(config);
  std::vector<const TensorStatistics*> tensors;
  tensors.reserve(statistics.size());
  for (const auto& [name, of_tensor] : statistics) tensors.push_back(&of_tensor);
  std::vector<std::optional<Range>> ranges(tensors.size());
  parallel_for(tensors.size(), threads,
               [&](std::size_t i, int) { ranges[i] = range_of(*tensors[i], config, levels); });
  TensorRanges out;
  auto range = ranges.begin();
  for (const auto& [name, of_tensor] : statistics) {
    if (const auto& found = *range++) out.emplace(name, *found);
  }
  return out;
}

}  // namespace qtool
