#pragma once

#include <string>

#include <spdlog/logger.h>

#include "base/progress.h"

namespace qtool {

/// What a run needs from its caller besides the config.
struct RunContext {
  spdlog::logger& log;
  Progress progress;  ///< empty: nobody watches
  /// Why the config has the preset that it has, where nobody named it.
  std::string preset_reason = {};
};

}  // namespace qtool
