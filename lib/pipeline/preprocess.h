#pragma once

#include <cstddef>
#include <optional>

#include "config/config.h"
#include "pipeline/preprocess_result.h"
#include "pipeline/run_context.h"

namespace qtool {

struct PreprocessOptions {
  /// Samples on which original and result are compared; nothing: one, for models below 500 MB.
  std::optional<std::size_t> check_samples = std::nullopt;
};

/// Writes what the passes of the config make of `config.model.input` to `config.model.output`. The
/// output appears only when complete, checked and found to compute the same; gates that are not met
/// do not keep it from being written.
PreprocessResult run_preprocess(const Config& config, const PreprocessOptions& options,
                                const RunContext& context);

}  // namespace qtool
