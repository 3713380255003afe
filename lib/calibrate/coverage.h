#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/ranges.h"
#include "calibrate/statistics.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

/// A tensor's values in held-out data, and how many of them a range leaves out. Merging is
/// commutative and associative.
struct HeldOutValues {
  TensorStatistics statistics;      ///< StatisticsKind::Extremes
  std::uint64_t clipped_count = 0;  ///< finite values outside of the range; 0 without one

  /// Takes values that the tensor has in one sample.
  void observe(std::span<const float> values, std::uint64_t sample,
               const std::optional<Range>& range);
  void merge(const HeldOutValues& other);
  /// Share of the finite values; of a tensor that has some.
  double clipped() const;
};

/// Share of the range's width that the interval of zero and all values takes; 1 for a range without
/// width. `range` has zero in it, the tensor has values.
double range_used(const TensorStatistics& statistics, Range range);

/// A pass over held-out samples.
struct CoveragePass {
  std::vector<std::string> tensors;
  const TensorRanges& ranges;    ///< of those that have one
  std::size_t first_sample = 0;  ///< number that the folder's first sample is given
  int threads = 1;
};

/// Runs `model` once over all samples, as observe_samples does.
std::map<std::string, HeldOutValues> observe_held_out(const Model& model, const CoveragePass& pass,
                                                      const SampleFolder& folder,
                                                      const Progress& progress);

}  // namespace qtool
