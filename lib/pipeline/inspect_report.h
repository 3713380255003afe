#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "inspect/explain.h"
#include "inspect/kernel_forecast.h"
#include "inspect/lint.h"
#include "inspect/plan_outcome.h"
#include "inspect/summary.h"
#include "pipeline/model_file.h"

namespace qtool {

/// Result of `inspect`.
struct InspectReport {
  ModelFile model;
  ModelSummary summary;
  PlanOutcome outcome;
  KernelForecast kernels;  ///< of a model that is quantized already
  std::string obstacle;    ///< why nothing can be said of quantization; empty otherwise
  std::optional<NodeExplanation> explanation;  ///< of the node that was asked for
  Preset preset = Preset::Cpu;
  std::string preset_reason;      ///< where nobody named it
  std::vector<LintFinding> lint;  ///< what the target of the preset does not take
  std::vector<std::string> warnings;
};

}  // namespace qtool
