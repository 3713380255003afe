#include "terminal.h"

#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <spdlog/sinks/base_sink.h>

#include "base/error.h"
#include "base/text.h"
#include "standard_streams.h"

namespace qtool::cli {
namespace {

constexpr auto kBetweenUpdates = std::chrono::milliseconds(100);

/// A message as one line; what it quotes from models and files may hold anything.
std::string line_of(const spdlog::details::log_msg& message) {
  const auto level = spdlog::level::to_string_view(message.level);
  return fmt::format("qtool: {}: {}\n", std::string_view(level.data(), level.size()),
                     printable(std::string_view(message.payload.data(), message.payload.size())));
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

/// Writes log lines above the progress line.
class Terminal::StderrSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit StderrSink(Terminal& terminal) : terminal_(terminal) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    terminal_.write_line(line_of(message));
  }
  void flush_() override {}

  Terminal& terminal_;
};

/// Writes every log line to a file, and remembers a failure for the end: a full disk should not end
/// the run halfway.
class Terminal::FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(const std::filesystem::path& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor_ < 0) throw io_error(path.string(), "cannot be written", errno);
  }
  ~FileSink() override { ::close(descriptor_); }

  void check() const {
    if (error_number_ != 0) throw io_error(path_.string(), "cannot be written", error_number_);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string line = fmt::format(
        "{:%FT%TZ} {}", fmt::gmtime(spdlog::log_clock::to_time_t(message.time)), line_of(message));
    const ssize_t put = ::write(descriptor_, line.data(), line.size());
    if (put != static_cast<ssize_t>(line.size())) error_number_ = put < 0 ? errno : ENOSPC;
  }
  void flush_() override {}

  std::filesystem::path path_;
  int descriptor_ = -1;
  int error_number_ = 0;
};

Terminal::Terminal(const CommandLine& command_line) {
  const bool is_quiet = command_line.verbosity == Verbosity::Quiet;
  shows_progress_ = !is_quiet && !command_line.no_progress && stderr_is_terminal();
  auto stderr_sink = std::make_shared<StderrSink>(*this);
  stderr_sink->set_level(is_quiet                                       ? spdlog::level::err
                         : command_line.verbosity == Verbosity::Verbose ? spdlog::level::debug
                                                                        : spdlog::level::info);
  std::vector<spdlog::sink_ptr> sinks = {std::move(stderr_sink)};
  if (command_line.log_file) {
    file_ = std::make_shared<FileSink>(*command_line.log_file);
    sinks.push_back(file_);
  }
  log_ = std::make_unique<spdlog::logger>("qtool", sinks.begin(), sinks.end());
  log_->set_level(spdlog::level::debug);
}

Terminal::~Terminal() { clear_progress(); }

Progress Terminal::progress() {
  if (!shows_progress_) return {};
  return [this](std::size_t done, std::size_t total) { show_progress(done, total); };
}

void Terminal::record(const Error& error) {
  if (file_) file_->log({log_->name(), spdlog::level::err, error.what()});
}

void Terminal::finish() {
  clear_progress();
  if (file_) file_->check();
}

void Terminal::write_line(std::string_view line) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  write_stderr(line);
}

void Terminal::show_progress(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (done == 0 || began_ == Clock::time_point{}) began_ = now;
  if (done < total && now - last_shown_ < kBetweenUpdates) return;
  last_shown_ = now;
  if (done >= total) {
    clear_progress();
    began_ = {};
    return;
  }
  std::string line = fmt::format("\r\x1b[K{} of {} samples", done, total);
  const double spent = std::chrono::duration<double>(now - began_).count();
  if (done > 0 && spent > 1) {
    line += fmt::format(", {} left", duration_text(spent / static_cast<double>(done) *
                                                   static_cast<double>(total - done)));
  }
  has_progress_line_ = true;
  write_stderr(line);
}

void Terminal::clear_progress() {
  if (std::exchange(has_progress_line_, false)) write_stderr("\r\x1b[K");
}

}  // namespace qtool::cli
