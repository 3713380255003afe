#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// What running the original and the result side by side gave.
struct PreprocessCheck {
  std::size_t sample_count = 0;  ///< 0: nothing was run, `note` says why
  bool made_up = false;          ///< samples by the inputs' types, not given ones
  double error = 0;  ///< the largest distance of an output, as a part of the output's length
  std::string note;
};

/// How many samples are checked where nobody says: one for models below 500 MB.
std::size_t default_check_samples(std::uint64_t model_bytes);

/// Runs the model at `original` and `result` on samples of `verify.data`, else on made-up ones, and
/// compares all outputs. An `Input` error where they differ by more than rounding. Where the
/// original cannot be run on such samples there is no check.
PreprocessCheck check_preprocessed(const std::filesystem::path& original, const Model& result,
                                   const Config& config, std::size_t sample_count);

}  // namespace qtool
