#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stage_times.h"
#include "config/config.h"
#include "pipeline/preprocess_check.h"
#include "pipeline/provenance.h"
#include "preprocess/preprocess.h"
#include "verify/comparison.h"

namespace qtool {

/// Result of the command `preprocess`; everything that the report and the manifest say.
struct PreprocessResult {
  Provenance provenance;
  Config config;
  std::string input_sha256, output_sha256;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::size_t nodes_before = 0, nodes_after = 0;  ///< subgraphs included
  std::int64_t opset_before = 0, opset_after = 0;
  PreprocessReport preprocess;
  PreprocessCheck check;
  std::string load_check;  ///< `loads`, `skipped`, or why only the checker was asked
  std::optional<Comparison> verification;
  std::vector<Gate> gates;
  std::vector<std::string> warnings;
  StageTimes seconds;
};

}  // namespace qtool
