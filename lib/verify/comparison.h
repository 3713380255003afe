#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qtool {

/// Distance between an output and its reference, over all samples. Formulas: docs/numerics.md.
struct TensorDistance {
  std::string name;              ///< in the reference
  std::size_t sample_count = 0;  ///< samples that were compared
  std::size_t skipped = 0;  ///< samples in which the shapes differ or the values are no numbers
  std::uint64_t value_count = 0;  ///< pairs of values in the compared samples
  double cosine_mean = 1;         ///< over samples
  double cosine_min = 1;          ///< of the worst sample
  std::string
      worst_sample;    ///< name of the first sample with `cosine_min`; empty where all are at 1
  double sqnr_db = 0;  ///< 10 log10(signal^2 / error^2) over all samples; infinite where equal
  double max_abs_error = 0;     ///< infinite where `nonfinite` is not 0
  double mean_abs_error = 0;    ///< infinite where `nonfinite` is not 0
  std::uint64_t nonfinite = 0;  ///< pairs of different values of which one is NaN or infinite
  std::optional<double>
      equal_share;  ///< share of pairs that are equal; only where the reference is integer or bool
};

/// Agreement of the class that the first output names.
struct Top1 {
  std::size_t row_count = 0;        ///< rows that name a class, over all samples
  std::optional<double> agreement;  ///< share of rows where both models name the same class
  std::optional<double>
      reference_accuracy;  ///< share of rows where the class is the sample's label
  std::optional<double> accuracy;
  /// What `max_top1_drop` limits: the loss of accuracy where there are labels, else the share of
  /// rows that disagree.
  std::optional<double> drop;
};

/// An output of the reference that was left out, and why.
struct UncomparedOutput {
  std::string name;
  std::string reason;
};

/// Two models seen side by side on a set of samples.
struct Comparison {
  std::vector<TensorDistance> outputs;  ///< in the reference model's order
  std::vector<UncomparedOutput> uncompared;
  Top1 top1;
  std::size_t sample_count = 0;
  std::vector<TensorDistance>
      reference_expected;  ///< the reference model against the data's expected outputs, if any
  std::vector<TensorDistance> expected;  ///< the other model against them
};

/// A condition of the `verify` section and how it came out.
struct Gate {
  std::string name;  ///< config key, for example `min_cosine`
  double limit = 0;
  double value = 0;  ///< NaN where there was nothing to judge
  bool met = false;
  std::string note;                     ///< why there was nothing to judge; empty otherwise
  std::vector<std::string> failures{};  ///< tensors that fail it, the worst first; of gates on each
};

}  // namespace qtool
