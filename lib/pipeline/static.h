#pragma once

#include "config/config.h"
#include "pipeline/run_context.h"
#include "pipeline/static_report.h"

namespace qtool {

/// Quantizes `config.model.input` to `config.model.output`. The output appears only when complete
/// and checked; gates that are not met do not keep it from being written.
StaticReport run_static(const Config& config, const RunContext& context);

}  // namespace qtool
