#include "config/describe.h"

#include <fmt/format.h>

#include "base/file.h"
#include "catch.h"

namespace qtool {
namespace {

std::string documentation() { return read_file(QTOOL_SOURCE_DIR "/docs/config.md"); }

/// The part of docs/config.md under the heading `name`, up to the next of the same or a higher
/// level.
std::string section_of(const std::string& text, const std::string& name) {
  const std::string heading = fmt::format("# {}\n", name);
  const std::size_t begin = text.find(heading);
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n#", begin) - begin);
}

/// Fails for each key of `keys` whose row, with default and meaning, is not under `heading`.
void check_rows(const std::string& heading, const std::vector<Key>& keys) {
  const std::string section = section_of(documentation(), heading);
  for (const Key& key : keys) {
    if (!key.moved_to.empty()) continue;
    INFO(heading << ": " << key.name);
    if (key.members && key.name != "auto") {
      check_rows(key.name, key.members());
      continue;
    }
    const std::string row =
        fmt::format("\n| `{}` | `{}` | ", key.name, to_compact_json(key.write()));
    const std::size_t begin = section.find(row);
    REQUIRE(begin != std::string::npos);
    const std::string line = section.substr(begin + 1, section.find('\n', begin + 1) - begin - 1);
    CHECK(line.ends_with(fmt::format(" | {} |", key.doc)));
  }
}

TEST_CASE("describe: docs/config.md names every key with its default and meaning", "[config]") {
  Config config;
  for (const Key& section : keys_of(config)) {
    check_rows(section.name, section.members ? section.members() : std::vector<Key>{section});
  }
}

TEST_CASE("describe: every key has a sentence", "[config]") {
  Config config;
  for (const Key& section : keys_of(config)) {
    CHECK(section.doc.ends_with('.'));
    if (!section.members) continue;
    for (const Key& key : section.members()) {
      INFO(section.name << "." << key.name);
      CHECK(key.doc.ends_with('.'));
    }
  }
}

}  // namespace
}  // namespace qtool
