#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stage_times.h"
#include "config/config.h"
#include "inspect/plan_outcome.h"
#include "inspect/summary.h"
#include "pipeline/output_check.h"
#include "pipeline/provenance.h"
#include "preprocess/preprocess.h"
#include "quantize/dynamic/plan.h"
#include "verify/comparison.h"

namespace qtool {

/// Result of `dynamic`; everything that the report and the manifest say.
struct DynamicReport {
  Provenance provenance;
  Config config;
  std::string input_sha256, output_sha256;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::int64_t opset_before = 0, opset_after = 0;
  PreprocessReport preprocess;
  DynamicPlan plan;  ///< for the preprocessed model; without the values of its weights
  PlanOutcome outcome;
  std::vector<TypeUse> weights_before, weights_after;  ///< by type
  std::string load_check;  ///< `loads`, `skipped`, or why only the checker was asked
  OutputCheck check;
  std::optional<Comparison> verification;
  std::vector<Gate> gates;
  std::vector<std::string> warnings;
  StageTimes seconds;
};

}  // namespace qtool
