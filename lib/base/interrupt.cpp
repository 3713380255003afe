#include "base/interrupt.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace qtool {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<int> signal_count{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int) {
  if (signal_count.fetch_add(1) > 0) {
    remove_temporary_files_on_signal();
    ::_exit(130);
  }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // A reader that went away shows as a write error, a file over the size limit too.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() noexcept { return signal_count.load(std::memory_order_relaxed) > 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::Interrupted, "interrupted");
}

}  // namespace qtool
