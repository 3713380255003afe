#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "pipeline/inspect_report.h"
#include "pipeline/run_context.h"

namespace qtool {

/// Tells what `config.model.input` holds and what `static` would quantize of it by this config;
/// with `node`, what becomes of that one. `Usage` error where the model has no such node.
InspectReport run_inspect(const Config& config, const std::optional<std::string>& node,
                          const RunContext& context);

}  // namespace qtool
