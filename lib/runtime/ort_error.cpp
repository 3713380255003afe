#include "runtime/ort_error.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/text.h"

namespace qtool {
namespace {

/// The end of the function's signature that follows a place in the source, or `from` where none
/// follows.
std::size_t end_of_signature(std::string_view text, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] != ')' || --depth > 0) continue;
    ++i;
    if (text.substr(i).starts_with(" const")) i += 6;
    return depth == 0 ? i : from;
  }
  return from;
}

/// Removes `/path/graph.cc:123 void onnxruntime::f(int) const`, wherever it stands.
void remove_source_places(std::string& text) {
  for (const std::string_view ending : {".cc:", ".h:", ".cpp:", ".hpp:"}) {
    for (std::size_t at = text.find(ending); at != std::string::npos; at = text.find(ending, at)) {
      const std::size_t digits = at + ending.size();
      const std::size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
      const std::size_t space = text.rfind(' ', at);
      const std::size_t begin = space == std::string::npos ? 0 : space + 1;
      if (end == digits) {
        at = digits;
        continue;
      }
      text.erase(begin, end_of_signature(text, end) - begin);
      at = begin;
    }
  }
}

std::string one_line(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return join(words, " ");
}

void remove_prefix(std::string& text, std::string_view begin, std::string_view end) {
  if (!text.starts_with(begin)) return;
  const auto at = text.find(end, begin.size());
  if (at != std::string::npos) text.erase(0, at + end.size());
}

}  // namespace

std::string clean_message(std::string_view message) {
  std::string out = one_line(message);
  remove_source_places(out);
  remove_prefix(out, "Load model from ", " failed:");
  remove_prefix(out, "Exception during initialization: ", "");
  out = one_line(out);
  while (out.ends_with('.')) out.pop_back();
  return printable(out, 500);
}

bool names_unknown_operator(std::string_view message) {
  return message.find("is not a registered function/op") != std::string_view::npos ||
         message.find("No Op registered for") != std::string_view::npos;
}

bool names_missing_kernel(std::string_view message) {
  return message.find("Could not find an implementation for") != std::string_view::npos;
}

Error ort_error(const Ort::Exception& exception, const std::string& where,
                const std::string& what) {
  const std::string said = clean_message(exception.what());
  const bool no_memory = said.find("llocate memory") != std::string::npos ||
                         said.find("bad_alloc") != std::string::npos;
  if (no_memory)
    return Error(ErrorKind::Internal, where + ": out of memory in ONNX Runtime: " + said);
  return Error(ErrorKind::Input, where + ": ONNX Runtime cannot " + what + ": " + said);
}

}  // namespace qtool
