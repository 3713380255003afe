#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace qtool {

/// `text` fit for one line of a terminal: valid UTF-8, control characters and broken bytes written
/// as `\xNN`, cut in the middle beyond `limit` bytes. Names in models and files come from
/// strangers.
std::string printable(std::string_view text, std::size_t limit = 1500);

/// The name in `known` that `word` was most likely meant to be, or empty where none is near.
/// Case, `-` and `_` count for nothing.
std::string nearest_name(std::string_view word, std::span<const std::string> known);

/// `1536` as `1.5 KB`; powers of 1000.
std::string format_bytes(std::uint64_t bytes);

/// `a, b, c`
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

/// `text` with ASCII letters in lower case.
std::string to_lower(std::string_view text);

/// Natural order: runs of digits compare by value, so `s2` comes before `s10`.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace qtool
