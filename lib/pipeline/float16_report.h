#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stage_times.h"
#include "config/config.h"
#include "float16/plan.h"
#include "inspect/summary.h"
#include "pipeline/float16_check.h"
#include "pipeline/provenance.h"
#include "verify/comparison.h"

namespace qtool {

/// Result of `float16`; everything that the report and the manifest say.
struct Float16Report {
  Provenance provenance;
  Config config;
  std::string input_sha256, output_sha256;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::int64_t opset_before = 0, opset_after = 0;
  Float16Plan plan;
  std::size_t stored_weights = 0;                      ///< constants that have the 16-bit type now
  std::size_t search_trials = 0;                       ///< of float16.auto; 0: it was off
  std::vector<TypeUse> weights_before, weights_after;  ///< by type
  std::string load_check;  ///< `loads`, `skipped`, or why only the checker was asked
  Float16Check check;
  std::optional<Comparison> verification;
  std::vector<Gate> gates;
  std::vector<std::string> notes, warnings;
  StageTimes seconds;
};

}  // namespace qtool
