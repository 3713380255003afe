#include "config/place.h"

#include <fmt/format.h>

#include "base/text.h"

namespace qtool {

Place Place::member(std::string_view name, int at_line) const {
  Place out = *this;
  out.key = key.empty() ? std::string(name) : fmt::format("{}.{}", key, name);
  if (line > 0) out.line = at_line;
  return out;
}

Place Place::element(std::size_t index, int at_line) const {
  Place out = *this;
  out.key = fmt::format("{}[{}]", key, index);
  if (line > 0) out.line = at_line;
  return out;
}

Error Place::error(const std::string& what, const std::string& hint) const {
  std::string where = source;
  if (line > 0) where += fmt::format(":{}", line);
  if (names_key && !key.empty()) where += (where.empty() ? "" : ": ") + printable(key, 400);
  return Error(ErrorKind::Usage, where + ": " + what, hint);
}

std::string known_names_hint(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = nearest_name(word, known);
  const std::string list = known.empty() ? "" : "known: " + join(known);
  return nearest.empty() ? list : fmt::format("did you mean '{}'? {}", nearest, list);
}

}  // namespace qtool
