#include "model/blame.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "model/model.h"
#include "model/node_walk.h"

namespace qtool {
namespace {

// describe() writes control characters of names in another way, so that these are ours alone.
constexpr char kOpen = '\x02';
constexpr char kClose = '\x03';

}  // namespace

onnx::ModelProto with_marked_nodes(const onnx::ModelProto& model) {
  onnx::ModelProto copy = model;
  for_each_node(copy,
                [](onnx::NodeProto& node) { node.set_name(kOpen + describe(node) + kClose); });
  return copy;
}

std::string marked_node(std::string_view text) {
  const auto open = text.rfind(kOpen);
  if (open == std::string_view::npos) return {};
  text.remove_prefix(open + 1);
  return std::string(text.substr(0, text.find(kClose)));
}

std::string_view after_marked_node(std::string_view text) {
  const auto close = text.rfind(kClose);
  return close == std::string_view::npos ? text : text.substr(close + 1);
}

std::string reworded(std::string_view text) {
  std::string out(text);
  // The node at fault stands before the message; some have it inside as well: `in 'NODE : axis'`,
  // `Node(NODE) with`.
  for (auto open = out.find(kOpen); open != std::string::npos; open = out.find(kOpen)) {
    const auto close = out.find(kClose, open);
    out.erase(open, close == std::string::npos ? close : close - open + 1);
    if (out.compare(open, 3, " : ") == 0) out.erase(open, 3);
    if (open > 0 && out.compare(open - 1, 2, "()") == 0) out.erase(open - 1, 2);
  }
  std::ranges::replace(out, '\n', ' ');
  while (out.ends_with('.') || out.ends_with(' ')) out.pop_back();
  const auto is_upper = [](unsigned char c) { return std::isupper(c) != 0; };
  const auto word_end = std::ranges::find(out, ' ');
  // A single letter is a name, as are words with capitals inside.
  if (word_end - out.begin() > 1 && std::none_of(out.begin() + 1, word_end, is_upper)) {
    out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  }
  return printable(out);
}

}  // namespace qtool
