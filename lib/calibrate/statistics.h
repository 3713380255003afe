#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/exact_sum.h"
#include "calibrate/sketch.h"

namespace qtool {

/// What is recorded of a tensor, from cheap to dear.
enum class StatisticsKind {
  Extremes,      ///< at memory speed
  Distribution,  ///< also how often each value occurs: about half a nanosecond a value
  All,           ///< also the sum
};

/// The smallest or largest value of a tensor, and the first sample that has it.
struct Extreme {
  float value = 0;
  std::uint64_t sample = 0;
  friend bool operator==(const Extreme&, const Extreme&) = default;
};

/// The extremes of the finite values that a tensor has in one sample.
struct SampleExtremes {
  std::uint64_t sample = 0;
  float min = 0;
  float max = 0;
  friend bool operator==(const SampleExtremes&, const SampleExtremes&) = default;
};

/// What one pass over the data records of a tensor. Merging is commutative and associative, so the
/// result depends neither on the order of samples nor on threads.
struct TensorStatistics {
  std::uint64_t value_count = 0;      ///< finite values
  std::uint64_t nonfinite_count = 0;  ///< NaN and infinities; they count for nothing else
  Extreme min;                        ///< of the finite values; 0 where there are none
  Extreme max;
  std::uint64_t sample_count = 0;  ///< samples with a finite value
  ExactSum sum_of_minima;          ///< over these samples; for the moving average
  ExactSum sum_of_maxima;

  std::uint64_t zero_count = 0;  ///< these two from StatisticsKind::Distribution on
  Sketch sketch;
  ExactSum sum;  ///< StatisticsKind::All: of each sample's sum in float64

  /// Of the samples with a finite value, ascending; empty where they were not asked for.
  std::vector<SampleExtremes> sample_extremes;

  /// Takes values that the tensor has in one sample: all, or those of one run of a body that runs
  /// several times, one call after the other. With `keeps_sample_extremes` the sample's extremes
  /// are kept too; they are ascending only after the next merge.
  void observe(std::span<const float> values, std::uint64_t sample, StatisticsKind kind,
               bool keeps_sample_extremes = false);
  /// Takes values of no known sample that are spread evenly from `low` to `high`, both finite.
  void add_spread(float low, float high, std::uint64_t count);
  void merge(const TensorStatistics& other);
  /// Of a tensor whose distribution was recorded.
  Density density() const;
  friend bool operator==(const TensorStatistics&, const TensorStatistics&) = default;

 private:
  /// The sample that was observed last, with its own extremes. How it came to what was recorded
  /// makes no statistics differ.
  struct Latest {
    bool is_there = false;
    std::uint64_t sample = 0;
    float min = 0;
    float max = 0;
    friend bool operator==(const Latest&, const Latest&) { return true; }
  };

  void add_to_sample(float least, float greatest, std::uint64_t sample);
  void keep(const SampleExtremes& extremes);
  void count(std::span<const float> values, float largest, StatisticsKind kind);

  Latest latest_;
};

}  // namespace qtool
