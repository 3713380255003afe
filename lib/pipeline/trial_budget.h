#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace qtool {

/// What trying a model out costs, and the calibration that it precedes.
struct TrialCost {
  std::uint64_t model_bytes = 0;
  std::size_t node_count = 0;
  std::optional<double> float_us = {};  ///< CPU time of one run of the float model, where known
  std::size_t sample_count = 0;         ///< that calibration runs the model on
  bool is_dry_run = false;              ///< nothing follows that would cost more
};

/// CPU time that a trial may take.
double allowed_us(const TrialCost& cost);

/// Whether making the models and a first run of each fit in.
bool is_affordable(const TrialCost& cost);

}  // namespace qtool
