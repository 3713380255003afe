#include "model/functions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "model/messages.h"
#include "model/model.h"

namespace qtool {
namespace {

/// Beyond this many nodes after expansion a model is taken for an attack: each level may double
/// them.
constexpr std::uint64_t kMaxExpandedNodes = 10'000'000;
constexpr std::size_t kMaxCallDepth = 100;

using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

Key key_of(const onnx::FunctionProto& function) {
  return {function.domain(), function.name(), function.overload()};
}
Key key_of(const onnx::NodeProto& node) { return {node.domain(), node.op_type(), node.overload()}; }

class Expansion {
 public:
  Expansion(const onnx::ModelProto& model, const std::string& where) : where_(where) {
    for (const auto& function : model.functions()) {
      if (!functions_.emplace(key_of(function), Entry{&function}).second) {
        refuse("function " + in_quotes(function.name()) + " is there twice");
      }
    }
  }

  /// Nodes that `nodes` become when every call in them is expanded.
  template <typename Nodes>
  std::uint64_t expanded(const Nodes& nodes) {
    std::uint64_t sum = 0;
    for (const auto& node : nodes) {
      sum += 1 + called(node);
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) sum += expanded(attribute.g().node());
        for (const auto& graph : attribute.graphs()) sum += expanded(graph.node());
      }
      if (sum > kMaxExpandedNodes) {
        refuse("functions expand to more than " + std::to_string(kMaxExpandedNodes) + " nodes");
      }
    }
    return sum;
  }

  void visit_all() {
    for (auto& [key, entry] : functions_) count(entry);
  }

 private:
  struct Entry {
    const onnx::FunctionProto* function = nullptr;
    std::uint64_t nodes = 0;
    enum { New, Open, Done } state = New;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::Input, where_ + ": " + what);
  }

  std::uint64_t called(const onnx::NodeProto& node) {
    // Most models have no functions: then no node needs a key.
    if (functions_.empty()) return 0;
    const auto found = functions_.find(key_of(node));
    return found == functions_.end() ? 0 : count(found->second);
  }

  std::uint64_t count(Entry& entry) {
    if (entry.state == Entry::Done) return entry.nodes;
    const std::string name = "function " + in_quotes(entry.function->name());
    if (entry.state == Entry::Open) refuse(name + " calls itself, directly or through others");
    if (depth_ == kMaxCallDepth)
      refuse(name + ": functions call each other deeper than " + std::to_string(kMaxCallDepth));
    entry.state = Entry::Open;
    ++depth_;
    entry.nodes = expanded(entry.function->node());
    --depth_;
    entry.state = Entry::Done;
    return entry.nodes;
  }

  const std::string& where_;
  std::map<Key, Entry> functions_;
  std::size_t depth_ = 0;
};

}  // namespace

void check_functions(const onnx::ModelProto& model, const std::string& where) {
  Expansion expansion(model, where);
  expansion.visit_all();
  expansion.expanded(model.graph().node());
}

}  // namespace qtool
