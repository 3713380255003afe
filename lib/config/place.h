#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace qtool {

/// Where a value of the config comes from: names it in messages and says what its paths are
/// relative to.
struct Place {
  std::string source;            ///< file name, `--set`, or the option
  int line = 0;                  ///< 0: not from a file
  std::string key;               ///< full dotted key
  bool names_key = true;         ///< false: the source is an option that says which key it means
  std::filesystem::path folder;  ///< relative paths start here; empty: the current folder

  /// The place of `name` inside this one.
  Place member(std::string_view name, int at_line) const;
  /// The place of element `index` of this list.
  Place element(std::size_t index, int at_line) const;
  /// A `Usage` error: `source:line: key: what`.
  Error error(const std::string& what, const std::string& hint = {}) const;
};

/// The hint for `word` that is none of `known`: `did you mean 'entropy'? known: minmax, …`.
std::string known_names_hint(std::string_view word, std::span<const std::string> known);

}  // namespace qtool
