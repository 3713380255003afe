#include "base/error.h"

#include <system_error>
#include <utility>

#include "base/text.h"

namespace qtool {

Error::Error(ErrorKind kind, std::string message, std::string hint)
    : std::runtime_error(printable(message)), kind_(kind), hint_(printable(hint)) {}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Internal:
      return 1;
    case ErrorKind::Usage:
      return 2;
    case ErrorKind::Input:
      return 3;
    case ErrorKind::Io:
      return 5;
    case ErrorKind::Interrupted:
      return 130;
  }
  return 1;
}

Error io_error(const std::string& path, const std::string& what, int error_number) {
  return Error(ErrorKind::Io,
               path + ": " + what + ": " + std::generic_category().message(error_number));
}

}  // namespace qtool
