#pragma once

#include "config/config.h"
#include "pipeline/compare_report.h"
#include "pipeline/run_context.h"

namespace qtool {

/// Runs `config.model.input`, the reference, and `config.model.output` on the samples of
/// `config.verify.data` and judges the gates of `config.verify`. Labels are those of the config,
/// else those that the sample folder brings along, as far as they are classes.
CompareReport run_compare(const Config& config, const RunContext& context);

}  // namespace qtool
