#pragma once

#include <span>
#include <string>

namespace qtool {

/// `a, b, c and 4 more`: the first three words, for messages.
std::string some_of(std::span<const std::string> words);

}  // namespace qtool
