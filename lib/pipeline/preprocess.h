#pragma once

#include "config/config.h"
#include "pipeline/preprocess_result.h"
#include "pipeline/run_context.h"

namespace qtool {

/// Writes what the passes of the config make of `config.model.input` to `config.model.output`. The
/// output appears only when complete and checked; gates that are not met do not keep it from being
/// written.
PreprocessResult run_preprocess(const Config& config, const RunContext& context);

}  // namespace qtool
