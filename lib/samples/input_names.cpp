#include "samples/input_names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace qtool {
namespace {

/// Characters that some file system or other does not take in a name.
bool fits_file_name(char c) {
  return static_cast<unsigned char>(c) >= 0x20 &&
         std::string_view("/\\:*?\"<>|").find(c) == std::string_view::npos;
}

/// Whether `stem` is `name` with `_` for characters that a file name cannot hold.
bool is_simplified(std::string_view stem, std::string_view name) {
  return std::ranges::equal(
      stem, name, [](char s, char n) { return s == n || (s == '_' && !fits_file_name(n)); });
}

std::vector<std::string> names_of(std::span<const TensorInfo> inputs) {
  std::vector<std::string> out;
  for (const TensorInfo& input : inputs) out.push_back(input.name);
  return out;
}

}  // namespace

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0;
    if (text[at] == '%' && at + 2 < text.size()) {
      const char* const last = text.data() + at + 3;
      const auto [end, failure] = std::from_chars(text.data() + at + 1, last, code, 16);
      if (failure == std::errc() && end == last) {
        out += static_cast<char>(code);
        at += 2;
        continue;
      }
    }
    out += text[at];
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += fits_file_name(c) && c != '%' ? std::string(1, c)
                                         : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::optional<std::size_t> find_input(std::string_view stem, std::span<const TensorInfo> inputs,
                                      const std::string& where) {
  const std::string decoded = percent_decode(stem);
  for (const std::string_view name : {stem, std::string_view(decoded)}) {
    const auto exact = std::ranges::find(inputs, name, &TensorInfo::name);
    if (exact != inputs.end()) return static_cast<std::size_t>(exact - inputs.begin());
  }
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_simplified(decoded, inputs[i].name)) continue;
    if (found) {
      throw Error(ErrorKind::Input,
                  where + ": could be input '" + inputs[*found].name + "' or '" + inputs[i].name +
                      "', expected a name that fits one of them",
                  "write what a file name cannot hold as a percent code: / is %2F, : is %3A");
    }
    found = i;
  }
  return found;
}

std::optional<std::size_t> numbered(std::string_view stem, std::string_view prefix) {
  if (!stem.starts_with(prefix)) return std::nullopt;
  stem.remove_prefix(prefix.size());
  std::size_t number = 0;
  const auto [end, failure] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  if (failure != std::errc() || end != stem.data() + stem.size()) return std::nullopt;
  return number;
}

void refuse_unknown_input(std::string_view name, std::span<const TensorInfo> inputs,
                          const std::string& where) {
  const std::vector<std::string> known = names_of(inputs);
  const std::string nearest = nearest_name(name, known);
  throw Error(ErrorKind::Input,
              where + ": the model has no input '" + std::string(name) + "', expected " +
                  (known.empty() ? "none" : join(known)),
              nearest.empty() ? "" : "did you mean '" + nearest + "'?");
}

}  // namespace qtool
