#pragma once

#include "config/config.h"
#include "pipeline/dynamic_report.h"
#include "pipeline/run_context.h"

namespace qtool {

/// Gives `config.model.input` 8-bit weights and activations that are quantized at run time, as
/// `config.model.output`. The output appears only when complete and checked; gates that are not met
/// do not keep it from being written.
DynamicReport run_dynamic(const Config& config, const RunContext& context);

}  // namespace qtool
