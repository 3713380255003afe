#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "process.h"
#include "temp_dir.h"

namespace qtool::testing {

/// `a b 'c d'` as its words; single quotes only.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out;
  bool quoted = false, open = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
      if (!open) out.emplace_back();
      open = true;
    } else if (c == ' ' && !quoted) {
      open = false;
    } else {
      if (!open) out.emplace_back();
      open = true;
      out.back() += c;
    }
  }
  return out;
}

/// Runs the built qtool in `folder` with the words of `line`.
inline ProcessResult run_qtool(const std::string& line, const TempDir& folder,
                               const std::string& out = ".stdout") {
  return Process(QTOOL_BINARY, words_of(line), folder.path(), out).wait();
}

/// One command line that is refused, and all that the user sees of it.
struct Refusal {
  std::string line;
  int exit_code;
  std::string error;  ///< stderr without `qtool: error: ` and the last newline
};

}  // namespace qtool::testing
