#pragma once

#include <cstddef>
#include <optional>

#include "config/config.h"
#include "pipeline/dynamic_report.h"
#include "pipeline/run_context.h"

namespace qtool {

struct DynamicOptions {
  /// Made-up samples on which source and result are run; nothing: one, for models below 300 MB.
  std::optional<std::size_t> check_samples = std::nullopt;
};

/// Gives `config.model.input` 8-bit weights and activations that are quantized at run time, as
/// `config.model.output`. The output appears only when complete and checked; gates that are not met
/// do not keep it from being written.
DynamicReport run_dynamic(const Config& config, const DynamicOptions& options,
                          const RunContext& context);

}  // namespace qtool
