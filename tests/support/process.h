#pragma once

#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"

namespace qtool::testing {

/// A process that has ended.
struct ProcessResult {
  int exit_code = -1;  ///< negative: the signal that ended it
  std::string out, err;
};

/// A program started in `folder`, with its stdout and stderr in files there that are read when it
/// ends.
class Process {
 public:
  /// `out` may name a file to write stdout to instead, for example a device; empty: stdout is
  /// closed.
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const std::filesystem::path& folder, std::string out = ".stdout")
      : folder_(folder), out_(std::move(out)) {
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ > 0) return;
    if (::chdir(folder.c_str()) != 0) ::_exit(127);
    redirect(STDERR_FILENO, ".stderr");
    redirect(STDOUT_FILENO, out_.c_str());
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }

  void signal(int number) const { ::kill(pid_, number); }

  bool is_running() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
  }

  /// What the running process has written to stderr.
  std::string error_so_far() const {
    return std::filesystem::exists(folder_ / ".stderr") ? read_file(folder_ / ".stderr") : "";
  }

  ProcessResult wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ProcessResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (out_ == ".stdout") result.out = read_file(folder_ / ".stdout");
    result.err = read_file(folder_ / ".stderr");
    std::filesystem::remove(folder_ / ".stdout");
    std::filesystem::remove(folder_ / ".stderr");
    return result;
  }

 private:
  static void redirect(int descriptor, const char* path) {
    if (*path == '\0') {
      ::close(descriptor);
      return;
    }
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (::dup2(file, descriptor) != descriptor) ::_exit(127);
  }

  std::filesystem::path folder_;
  std::string out_;
  pid_t pid_ = -1;
};

}  // namespace qtool::testing
