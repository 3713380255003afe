#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace qtool::testing {

/// A golden file: comment lines, then sections `name: text` whose further lines are indented.
struct GoldenFile {
  std::filesystem::path path;
  std::string comment;
  std::vector<std::string> order;
  std::map<std::string, std::string> sections;

  /// The file's text with its sections in order, lines of a section aligned.
  std::string text() const;
};

GoldenFile read_golden(const std::filesystem::path& path);

}  // namespace qtool::testing
