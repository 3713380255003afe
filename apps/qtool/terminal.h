#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include <spdlog/logger.h>

#include "base/error.h"
#include "command_line.h"

namespace qtool::cli {

/// What a run says on stderr while it works: log lines, and one line of progress below them.
class Terminal {
 public:
  /// Opens the log file, if there is one; an `Io` error where that fails.
  explicit Terminal(const CommandLine& command_line);
  ~Terminal();

  spdlog::logger& log() { return *log_; }
  /// Says how far the run is; empty where nobody watches.
  Progress progress();
  /// Writes to the log file what ends the run; main says it on stderr, in the form of all errors.
  void record(const Error& error);
  /// Takes the progress line away, and makes sure that the log file got all; an `Io` error where it
  /// did not.
  void finish();

 private:
  class StderrSink;
  class FileSink;

  void write_line(std::string_view line);
  void show_progress(std::size_t done, std::size_t total);
  void clear_progress();

  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  bool shows_progress_ = false;
  bool has_progress_line_ = false;
  Clock::time_point began_, last_shown_;
  std::shared_ptr<FileSink> file_;
  std::unique_ptr<spdlog::logger> log_;
};

}  // namespace qtool::cli
