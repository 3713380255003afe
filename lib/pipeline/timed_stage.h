#pragma once

#include <chrono>

#include <spdlog/logger.h>

#include "base/interrupt.h"
#include "base/stage_times.h"

namespace qtool {

/// Runs one stage of a command and notes how long it took; gives what it gives. Stops before it
/// where the user asked to.
template <typename Stage>
auto timed_stage(const char* name, StageTimes& times, spdlog::logger& log, const Stage& stage) {
  throw_if_interrupted();
  log.debug("{} …", name);
  struct Clock {
    StageTimes& times;
    const char* name;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    ~Clock() {
      const auto passed = std::chrono::steady_clock::now() - began;
      times.emplace_back(name, std::chrono::duration<double>(passed).count());
    }
  } clock{times, name};
  return stage();
}

}  // namespace qtool
