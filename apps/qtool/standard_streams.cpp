#include "standard_streams.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace qtool::cli {
namespace {

/// The error number of a failed write, or 0.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

void reserve_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened for reading only, a stream that was closed goes on refusing what is written to it.
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
}

void write_stdout(std::string_view text) {
  const int error_number = write_all(STDOUT_FILENO, text);
  // A reader that went away has seen what it wanted; the work is done.
  if (error_number == EPIPE) return;
  if (error_number != 0) throw io_error("standard output", "cannot be written", error_number);
}

void write_stderr(std::string_view text) noexcept { write_all(STDERR_FILENO, text); }

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace qtool::cli
