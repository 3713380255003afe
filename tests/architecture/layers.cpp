#include "layers.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace qtool::architecture {
namespace {

struct Library {
  std::string_view name;
  std::string_view prefix;  ///< of the header's name
};

constexpr auto kLibraries = std::to_array<Library>({
    {"CLI11", "CLI/"},       {"CPUID", "cpuid.h"},
    {"Highway", "hwy/"},     {"JSON", "nlohmann/"},
    {"ONNX", "onnx/"},       {"ONNX Runtime", "onnxruntime"},
    {"OpenSSL", "openssl/"}, {"POSIX", "dirent.h"},
    {"POSIX", "fcntl.h"},    {"POSIX", "malloc.h"},
    {"POSIX", "pthread.h"},  {"POSIX", "sched.h"},
    {"POSIX", "signal.h"},   {"POSIX", "stdlib.h"},
    {"POSIX", "sys/"},       {"POSIX", "unistd.h"},
    {"RE2", "re2/"},         {"fmt", "fmt/"},
    {"libzip", "zip.h"},     {"protobuf", "google/protobuf/"},
    {"spdlog", "spdlog/"},
});

struct Include {
  std::string_view header;
  bool is_quoted;
};

bool lists(std::string_view comma_separated, std::string_view name) {
  while (!comma_separated.empty()) {
    const auto end = std::min(comma_separated.find(", "), comma_separated.size());
    if (comma_separated.substr(0, end) == name) return true;
    comma_separated.remove_prefix(std::min(end + 2, comma_separated.size()));
  }
  return false;
}

/// `lib/model/save.cpp` lies in `model`, `apps/qtool/main.cpp` in `apps`.
std::string_view module_of(std::string_view path) {
  if (!path.starts_with("lib/")) return path.substr(0, path.find('/'));
  path.remove_prefix(4);
  return path.substr(0, path.find('/'));
}

std::optional<Include> parse_include(std::string_view line) {
  constexpr std::string_view kDirective = "#include";
  if (!line.starts_with(kDirective)) return std::nullopt;
  const auto begin = line.find_first_of("\"<", kDirective.size());
  if (begin == std::string_view::npos) return std::nullopt;
  const auto end = line.find_first_of("\">", begin + 1);
  return Include{line.substr(begin + 1, end - begin - 1), line[begin] == '"'};
}

bool allows_header(const Layer& layer, std::string_view header) {
  const auto module = header.substr(0, header.find('/'));
  const bool is_own = std::ranges::find(kLayers, module, &Layer::module) == kLayers.end();
  if (layer.module == "apps" && is_own) return true;
  return module == layer.module || lists(layer.may_include, module) ||
         lists(layer.may_include, header);
}

bool allows_library(const Layer& layer, std::string_view header) {
  if (header.find_first_of("./") == std::string_view::npos) return true;
  const auto library = std::ranges::find_if(
      kLibraries, [&](const Library& candidate) { return header.starts_with(candidate.prefix); });
  return library != kLibraries.end() && lists(layer.libraries, library->name);
}

}  // namespace

std::vector<std::string> find_violations(std::string_view path, std::string_view text) {
  const auto layer = std::ranges::find(kLayers, module_of(path), &Layer::module);
  if (layer == kLayers.end()) return {std::string(path) + ": no layer of this name"};
  std::vector<std::string> violations;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto include = parse_include(line);
    if (!include) continue;
    if (include->is_quoted ? allows_header(*layer, include->header)
                           : allows_library(*layer, include->header))
      continue;
    violations.push_back(std::string(path) + ":" + std::to_string(number) + ": " +
                         std::string(layer->module) + " may not include " +
                         std::string(include->header));
  }
  return violations;
}

}  // namespace qtool::architecture
