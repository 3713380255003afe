#include "check_option.h"

#include <charconv>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace qtool::cli {
namespace {

/// The number of samples that `--check` says.
std::size_t read_check(const std::string& text) {
  std::size_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw Error(ErrorKind::Usage, "--check: found '" + printable(text, 100) +
                                      "', expected a number of samples, 0 for none");
  }
  return count;
}

}  // namespace

std::optional<std::size_t> check_samples(const Run& run) {
  if (!run.has(kCheck)) return std::nullopt;
  return read_check(run.own.find(kCheck)->second.front());
}

}  // namespace qtool::cli
