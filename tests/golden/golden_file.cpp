#include "golden_file.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "base/file.h"

namespace qtool::testing {
namespace {

constexpr std::size_t kIndent = 8;

}  // namespace

std::string GoldenFile::text() const {
  std::string out = comment;
  for (const std::string& name : order) {
    std::string head = name + ":";
    head.resize(std::max(kIndent, head.size() + 1), ' ');
    std::istringstream lines(sections.at(name));
    bool is_first = true;
    for (std::string line; std::getline(lines, line);) {
      out += (is_first ? head : std::string(kIndent, ' ')) + line + "\n";
      is_first = false;
    }
    if (is_first) out += name + ":\n";
  }
  return out;
}

GoldenFile read_golden(const std::filesystem::path& path) {
  GoldenFile file{.path = path, .comment = {}, .order = {}, .sections = {}};
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      file.comment += line + "\n";
    } else if (line.starts_with(" ")) {
      if (file.order.empty())
        throw std::runtime_error(path.string() + ": a line before the first section");
      file.sections[file.order.back()] +=
          line.substr(std::min(kIndent, line.find_first_not_of(' '))) + "\n";
    } else if (const auto colon = line.find(':'); colon != std::string::npos) {
      file.order.push_back(line.substr(0, colon));
      const auto begin = line.find_first_not_of(' ', colon + 1);
      file.sections[file.order.back()] =
          begin == std::string::npos ? "" : line.substr(begin) + "\n";
    } else if (!line.empty()) {
      throw std::runtime_error(path.string() + ": neither a section nor a comment: " + line);
    }
  }
  return file;
}

}  // namespace qtool::testing
