#pragma once

#include <stdexcept>
#include <string>

namespace qtool {

/// What went wrong, as far as a caller acts on it; the exit code follows from it.
enum class ErrorKind {
  Internal,     ///< a defect in qtool, or out of memory (exit 1)
  Usage,        ///< option, config key or value (exit 2)
  Input,        ///< model, calibration data, labels or table is not usable (exit 3)
  Io,           ///< a file could not be read or written (exit 5)
  Interrupted,  ///< the user asked to stop (exit 130)
};

/// Ends the run. The message reads `where: what, found, expected`: lower case, no final period, one
/// line.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  /// What the user can do about it; empty where there is nothing to say.
  const std::string& hint() const { return hint_; }

 private:
  ErrorKind kind_;
  std::string hint_;
};

/// The process exit code for an error of `kind`.
int exit_code(ErrorKind kind);

/// The `Io` error for a failed system call on `path`, with the text of `error_number`.
Error io_error(const std::string& path, const std::string& what, int error_number);

}  // namespace qtool
