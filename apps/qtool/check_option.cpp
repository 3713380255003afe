#include "check_option.h"

#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace qtool::cli {

std::optional<std::size_t> check_samples_of(const Run& run) {
  if (!run.has(kCheck)) return std::nullopt;
  const std::string& text = run.own.find(kCheck)->second.front();
  std::size_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw Error(ErrorKind::Usage, "--check: found '" + printable(text, 100) +
                                      "', expected a number of samples, 0 for none");
  }
  return count;
}

}  // namespace qtool::cli
