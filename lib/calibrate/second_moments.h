#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/conv_window.h"
#include "calibrate/fixed_sums.h"

namespace qtool {

enum class MomentsKind {
  Diagonal,  ///< the sum of the squares of each channel
  Full,      ///< sums of the products of every two channels
};

/// `diagonal` or `full`.
std::string moments_name(MomentsKind kind);

/// How many sums `channels` channels have: of the symmetric matrix the upper triangle alone.
std::uint64_t moment_count(MomentsKind kind, std::uint64_t channels);
/// Bytes that they take.
std::uint64_t moment_bytes(MomentsKind kind, std::uint64_t channels);

/// Second moments of what a tensor has in one sample: float64 sums, rows added in their order.
struct SampleMoments {
  std::uint64_t row_count = 0;  ///< of each matrix
  /// By channel, or line by line of the upper triangle, one matrix behind the other.
  std::vector<double> sums;
};

/// Rows are the values of all channels at one position. Nothing for a tensor without values or
/// without the axis, -1 for the last.
std::optional<SampleMoments> sample_moments(MomentsKind kind, std::span<const float> values,
                                            std::span<const std::int64_t> shape, std::int64_t axis);

/// A full matrix for each group of the rows that a Conv multiplies its weights with, which
/// WindowRows describes. Nothing for a tensor without values, or that does not go with the window.
std::optional<SampleMoments> sample_moments(const ConvWindow& window, std::span<const float> values,
                                            std::span<const std::int64_t> shape);

/// Sums of x x^T, or of its diagonal, over all rows x of all samples; of a Conv with groups a
/// matrix for each. Each sample's sums are rounded to multiples of 2^-52 and added exactly, so that
/// the order of samples, threads and shards make no difference.
class SecondMoments {
 public:
  explicit SecondMoments(MomentsKind kind = MomentsKind::Diagonal, std::size_t matrix_count = 1)
      : kind_(kind), matrix_count_(matrix_count) {}

  /// A sample with values that are not finite is left out.
  void add(const SampleMoments& sample);
  void merge(const SecondMoments& other);

  MomentsKind kind() const { return kind_; }
  std::uint64_t row_count() const { return is_ragged_ ? 0 : row_count_; }
  bool is_ragged() const { return is_ragged_; }
  std::size_t matrix_count() const { return matrix_count_; }
  /// How many values a row has; 0 where there are no sums.
  std::size_t row_length() const;
  /// The sums as float64, in the order of SampleMoments; empty where samples differ in the number
  /// of channels.
  std::vector<double> values() const;
  /// Those of the diagonal alone, one matrix behind the other.
  std::vector<double> diagonal() const;

  using Words = FixedSums::Words;
  /// Multiples of 2^-52; as `values`.
  std::vector<Words> words() const;
  static SecondMoments from(MomentsKind kind, std::span<const Words> words, std::uint64_t row_count,
                            bool is_ragged, std::size_t matrix_count = 1);

  friend bool operator==(const SecondMoments& a, const SecondMoments& b) {
    return a.kind_ == b.kind_ && a.matrix_count_ == b.matrix_count_ &&
           a.is_ragged_ == b.is_ragged_ && a.row_count() == b.row_count() &&
           (a.is_ragged_ || a.sums_ == b.sums_);
  }

 private:
  static constexpr int kFractionBits = 52;

  bool set_size(std::size_t size);

  MomentsKind kind_;
  std::size_t matrix_count_;
  FixedSums sums_{kFractionBits};
  std::uint64_t row_count_ = 0;
  bool is_ragged_ = false;
};

}  // namespace qtool
