#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "command_line.h"
#include "run.h"
#include "standard_streams.h"

namespace {

using qtool::cli::write_stderr;

/// Before anything else: what the libraries and the first opened file depend on.
void prepare_process() {
  // ONNX Runtime reads it when its environment is made; nothing of a run may leave the machine.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", /*overwrite=*/1);
  qtool::cli::reserve_standard_streams();
  qtool::install_signal_handlers();
}

int report(const qtool::Error& error) {
  std::string text = std::string("qtool: error: ") + error.what() + "\n";
  if (!error.hint().empty()) text += "  hint: " + error.hint() + "\n";
  write_stderr(text);
  return qtool::exit_code(error.kind());
}

/// The exit code of a run.
int run(int argc, char* argv[]) {
  try {
    return qtool::cli::run(
        qtool::cli::parse_command_line({argv + (argc > 0 ? 1 : 0), argv + argc}));
  } catch (const qtool::Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    write_stderr("qtool: error: out of memory\n");
  } catch (const std::exception& error) {
    return report(
        qtool::Error(qtool::ErrorKind::Internal, std::string("internal error: ") + error.what(),
                     "this is a defect in qtool; please report it with the command line"));
  }
  return qtool::exit_code(qtool::ErrorKind::Internal);
}

/// All of ours is written and closed by now. What is left are the registries of ONNX and ONNX
/// Runtime, and the system takes back their memory faster than they can.
[[noreturn]] void leave(int code) {
#ifdef __SANITIZE_ADDRESS__
  std::exit(code);  // looks for leaks on its way
#else
  std::_Exit(code);
#endif
}

}  // namespace

int main(int argc, char* argv[]) {
  prepare_process();
  leave(run(argc, argv));
}
