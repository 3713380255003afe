#pragma once

#include <string>

#include "base/error.h"

namespace qtool::testing {

/// What a user would read of the error that `work` ends with, without `qtool: error: `; empty where
/// it does not fail.
template <typename Work>
std::string error_text(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what() + (error.hint().empty() ? "" : "\n  hint: " + error.hint());
  }
  return {};
}

/// The same with the exit code that it means: `exit 3: message | hint`; `no error` where it does
/// not fail.
template <typename Work>
std::string failure_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return "exit " + std::to_string(exit_code(error.kind())) + ": " + error.what() +
           (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "no error";
}

}  // namespace qtool::testing
