#pragma once

#include <spdlog/logger.h>

#include "calibrate/calibrate.h"

namespace qtool {

/// What a run needs from its caller besides the config.
struct RunContext {
  spdlog::logger& log;
  Progress progress;  ///< empty: nobody watches
};

}  // namespace qtool
