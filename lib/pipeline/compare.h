#pragma once

#include <filesystem>

#include "config/config.h"
#include "pipeline/compare_report.h"
#include "pipeline/run_context.h"

namespace qtool {

/// Runs `reference` and `other` on the samples of `config.verify.data` and judges the gates of
/// `config.verify`. Labels are those of the config, else those that the sample folder brings along,
/// as far as they are classes.
CompareReport run_compare(const std::filesystem::path& reference,
                          const std::filesystem::path& other, const Config& config,
                          const RunContext& context);

}  // namespace qtool
