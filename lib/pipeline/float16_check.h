#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"
#include "verify/comparison.h"

namespace qtool {

/// What running the source model and the converted one side by side gave.
struct Float16Check {
  std::size_t sample_count = 0;  ///< 0: nothing was run; `note` says why where that is a fault
  bool made_up = false;          ///< samples by the inputs' types, not given ones
  std::vector<TensorDistance> outputs;  ///< those that can be compared
  std::string note;
};

/// Runs both models on samples of `verify.data`, else on made-up ones. Where the source model does
/// not run on such samples there is no check; where only the converted one does not, that is a
/// defect.
Float16Check check_float16_model(const std::filesystem::path& original,
                                 const std::filesystem::path& converted, const Config& config,
                                 std::size_t sample_count);

}  // namespace qtool
