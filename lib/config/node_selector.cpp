#include "config/node_selector.h"

#include <re2/re2.h>

namespace qtool {
namespace {

/// The expression inside `entry` where it is written /like this/; empty where it is a plain name.
std::string_view pattern_of(std::string_view entry) {
  const bool is_pattern = entry.size() > 2 && entry.front() == '/' && entry.back() == '/';
  return is_pattern ? entry.substr(1, entry.size() - 2) : std::string_view{};
}

re2::RE2 compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  // The expression comes from a stranger: a program that does not fit is refused instead of built.
  options.set_max_mem(std::int64_t{1} << 20);
  return re2::RE2(re2::StringPiece(pattern.data(), pattern.size()), options);
}

}  // namespace

std::string node_pattern_fault(std::string_view entry) {
  const std::string_view pattern = pattern_of(entry);
  if (pattern.empty()) return {};
  const re2::RE2 expression = compile(pattern);
  return expression.ok() ? "" : expression.error();
}

NodeSelector::NodeSelector(std::span<const std::string> entries,
                           std::span<const std::string> node_names) {
  const std::set<std::string_view> known(node_names.begin(), node_names.end());
  for (const std::string& entry : entries) {
    if (known.contains(entry)) {
      selected_.insert(entry);
      continue;
    }
    bool matched = false;
    if (const std::string_view pattern = pattern_of(entry); !pattern.empty()) {
      const re2::RE2 expression = compile(pattern);
      for (const std::string& name : node_names) {
        if (!expression.ok() || !re2::RE2::PartialMatch(name, expression)) continue;
        selected_.insert(name);
        matched = true;
      }
    }
    if (!matched) unmatched_.push_back(entry);
  }
}

}  // namespace qtool
