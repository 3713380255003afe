#pragma once

#include <spdlog/logger.h>

#include "base/progress.h"

namespace qtool {

/// What a run needs from its caller besides the config.
struct RunContext {
  spdlog::logger& log;
  Progress progress;  ///< empty: nobody watches
};

}  // namespace qtool
