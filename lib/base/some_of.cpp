#include "base/some_of.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace qtool {

std::string some_of(std::span<const std::string> words) {
  constexpr std::size_t kNamed = 3;
  const std::size_t named = std::min(words.size(), kNamed);
  const std::size_t more = words.size() - named;
  return join(words.first(named)) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace qtool
