#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "runtime/session.h"
#include "samples/samples.h"

namespace qtool {

/// Distance between a tensor and its reference, over all samples. Formulas: docs/numerics.md.
struct TensorDistance {
  std::string name;
  std::size_t sample_count = 0;
  std::size_t skipped = 0;      ///< samples in which shapes or types differ
  double cosine_mean = 1;       ///< over samples
  double cosine_min = 1;
  double sqnr_db = 0;           ///< 10 log10(sum signal^2 / sum error^2) over all samples; infinite where equal
  double max_abs_error = 0;
  double mean_abs_error = 0;
  std::size_t nonfinite = 0;    ///< values that are finite in the reference and not here
};

/// Agreement of the class that the first output names (argmax along its last axis).
struct Top1 {
  std::optional<double> agreement;           ///< share of samples where both models name the same class
  std::optional<double> reference_accuracy;  ///< against labels
  std::optional<double> accuracy;
};

struct Comparison {
  std::vector<TensorDistance> outputs;
  Top1 top1;
  std::size_t sample_count = 0;
};

/// A condition of the `verify` section and how it came out.
struct Gate {
  std::string name;  ///< config key, for example `min_cosine`
  double limit = 0;
  double value = 0;
  bool met = false;
};

/// Runs both models on every sample, one sample at a time in memory, on `threads` cores.
Comparison compare_models(const Session& reference, const Session& other, const SampleFolder& samples,
                          const std::vector<std::int64_t>* labels, int threads);

/// The gates that `config` sets, judged on these figures; `size_ratio` is other / reference bytes.
std::vector<Gate> judge_gates(const VerifyConfig& config, const Comparison& comparison, double size_ratio);

}  // namespace qtool
