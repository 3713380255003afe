#pragma once

#include <cstddef>
#include <optional>

#include "config/config.h"
#include "pipeline/float16_report.h"
#include "pipeline/run_context.h"

namespace qtool {

struct Float16Options {
  /// Samples on which source and result are run side by side; nothing: one, for models below 300
  /// MB.
  std::optional<std::size_t> check_samples = std::nullopt;
};

/// Writes `config.model.input` with its float32 tensors in float16 or bfloat16 to
/// `config.model.output`. Weights go from file to file one at a time. The output appears only when
/// complete and checked; gates that are not met do not keep it from being written.
Float16Report run_float16(const Config& config, const Float16Options& options,
                          const RunContext& context);

}  // namespace qtool
