#include "model/order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "model/messages.h"
#include "model/model.h"

namespace qtool {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// A value that nodes read from outside their graph, and the first that does.
struct Capture {
  std::string_view name;
  const onnx::NodeProto* reader;
};

/// For each node the earlier ones among its own list that it waits for.
using Dependencies = std::vector<std::vector<int>>;

bool is_ordered(const Dependencies& dependencies) {
  for (std::size_t node = 0; node < dependencies.size(); ++node) {
    for (const int dependency : dependencies[node]) {
      if (dependency >= static_cast<int>(node)) return false;
    }
  }
  return true;
}

/// The order that takes, of all nodes that are ready, the one that stood first. Shorter than
/// `dependencies` where there is a cycle.
std::vector<int> stable_order(const Dependencies& dependencies) {
  std::vector<std::vector<int>> waiting(dependencies.size());
  std::vector<std::size_t> missing(dependencies.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t node = 0; node < dependencies.size(); ++node) {
    missing[node] = dependencies[node].size();
    if (missing[node] == 0) ready.push(static_cast<int>(node));
    for (const int dependency : dependencies[node]) {
      waiting[static_cast<std::size_t>(dependency)].push_back(static_cast<int>(node));
    }
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const int node : waiting[static_cast<std::size_t>(next)]) {
      if (--missing[static_cast<std::size_t>(node)] == 0) ready.push(node);
    }
  }
  return order;
}

/// The nodes of one cycle, given those that could be ordered.
std::vector<int> find_cycle(const Dependencies& dependencies, const std::vector<int>& ordered) {
  std::vector<bool> is_stuck(dependencies.size(), true);
  for (const int node : ordered) is_stuck[static_cast<std::size_t>(node)] = false;
  const auto is_stuck_node = [&](int node) { return is_stuck[static_cast<std::size_t>(node)]; };
  // Each node that is stuck waits for another that is: going from one to the next must come round.
  std::vector<int> path;
  std::vector<int> position(dependencies.size(), -1);
  int node = static_cast<int>(std::ranges::find(is_stuck, true) - is_stuck.begin());
  while (position[static_cast<std::size_t>(node)] < 0) {
    position[static_cast<std::size_t>(node)] = static_cast<int>(path.size());
    path.push_back(node);
    node = *std::ranges::find_if(dependencies[static_cast<std::size_t>(node)], is_stuck_node);
  }
  std::vector<int> cycle(path.begin() + position[static_cast<std::size_t>(node)], path.end());
  std::ranges::reverse(cycle);
  return cycle;
}

void permute(Nodes& nodes, const std::vector<int>& order) {
  std::vector<onnx::NodeProto*> owned(order.size());
  nodes.ExtractSubrange(0, nodes.size(), owned.data());
  for (const int index : order) nodes.AddAllocated(owned[static_cast<std::size_t>(index)]);
}

class Orderer {
 public:
  explicit Orderer(const std::string& where) : where_(where) {}

  /// Gives what the graph reads from outside.
  std::vector<Capture> order_graph(onnx::GraphProto& graph) const {
    Scope scope;
    for (const auto& input : graph.input()) {
      require_name(input.name(), "a graph input");
      if (!scope.emplace(input.name(), Definition{.kind = "a graph input"}).second) {
        refuse("graph input " + in_quotes(input.name()) + " is declared twice");
      }
    }
    for (const auto& tensor : graph.initializer()) add_initializer(tensor.name(), scope);
    for (const auto& tensor : graph.sparse_initializer())
      add_initializer(tensor.values().name(), scope);
    std::vector<Capture> captures = order_list(*graph.mutable_node(), scope);
    for (const auto& output : graph.output()) {
      require_name(output.name(), "a graph output");
      if (!scope.contains(output.name())) {
        refuse("graph output " + in_quotes(output.name()) + " is made by no node of its graph");
      }
    }
    return captures;
  }

  void order_main_graph(onnx::GraphProto& graph) const { refuse_captures(order_graph(graph), ""); }

  void order_function(onnx::FunctionProto& function) const {
    const std::string name = "function " + in_quotes(function.name()) + ": ";
    Scope scope;
    for (const auto& input : function.input()) {
      if (!scope.emplace(input, Definition{.kind = "a function input"}).second) {
        refuse(name + "input " + in_quotes(input) + " is declared twice");
      }
    }
    refuse_captures(order_list(*function.mutable_node(), scope), name);
    for (const auto& output : function.output()) {
      if (!scope.contains(output))
        refuse(name + "output " + in_quotes(output) + " is made by no node of it");
    }
  }

 private:
  struct Definition {
    int node = -1;  ///< in its list; -1 for what is there from the start
    const char* kind = "";
    bool is_initializer = false;
  };
  using Scope = std::unordered_map<std::string_view, Definition>;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::Input, where_ + ": " + what);
  }

  void require_name(const std::string& name, const std::string& of) const {
    if (name.empty()) refuse(of + " has an empty name");
  }

  void refuse_captures(const std::vector<Capture>& captures, const std::string& context) const {
    if (captures.empty()) return;
    const Capture& first = captures.front();
    refuse(context + describe(*first.reader) + ": input " + in_quotes(first.name) +
           " is made by no node and is no " +
           (context.empty() ? "graph input or initializer" : "input of the function"));
  }

  void add_initializer(const std::string& name, Scope& scope) const {
    require_name(name, "an initializer");
    const auto [at, is_new] =
        scope.emplace(name, Definition{.kind = "an initializer", .is_initializer = true});
    if (is_new) return;
    if (at->second.is_initializer) refuse("initializer " + in_quotes(name) + " is there twice");
    at->second.is_initializer = true;
  }

  void add_outputs(const Nodes& nodes, int index, Scope& scope) const {
    const onnx::NodeProto& node = nodes[index];
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      const auto [at, is_new] = scope.emplace(output, Definition{.node = index});
      if (is_new) continue;
      if (at->second.node < 0)
        refuse(describe(node) + ": output " + in_quotes(output) + " is also " + at->second.kind);
      refuse("value " + in_quotes(output) + " is made twice: by " +
             describe(nodes[at->second.node]) + " and by " + describe(node));
    }
  }

  /// What a node reads: its inputs, then what its subgraphs take from outside.
  std::vector<Capture> reads_of(onnx::NodeProto& node) const {
    std::vector<Capture> reads;
    for (const auto& input : node.input()) {
      if (!input.empty()) reads.push_back({input, &node});
    }
    for (auto& attribute : *node.mutable_attribute()) {
      const auto add = [&](onnx::GraphProto& graph) {
        const auto captures = order_graph(graph);
        reads.insert(reads.end(), captures.begin(), captures.end());
      };
      if (attribute.has_g()) add(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) add(graph);
    }
    return reads;
  }

  std::vector<Capture> order_list(Nodes& nodes, Scope& scope) const {
    scope.reserve(scope.size() + static_cast<std::size_t>(nodes.size()));
    for (int index = 0; index < nodes.size(); ++index) add_outputs(nodes, index, scope);
    std::vector<Capture> captures;
    std::unordered_set<std::string_view> captured;
    Dependencies dependencies(static_cast<std::size_t>(nodes.size()));
    for (int index = 0; index < nodes.size(); ++index) {
      for (const Capture& read : reads_of(nodes[index])) {
        const auto found = scope.find(read.name);
        if (found == scope.end()) {
          if (captured.insert(read.name).second) captures.push_back(read);
        } else if (found->second.node >= 0) {
          dependencies[static_cast<std::size_t>(index)].push_back(found->second.node);
        }
      }
    }
    if (!is_ordered(dependencies)) reorder(nodes, dependencies);
    return captures;
  }

  void reorder(Nodes& nodes, const Dependencies& dependencies) const {
    const std::vector<int> order = stable_order(dependencies);
    if (order.size() == dependencies.size()) return permute(nodes, order);
    constexpr std::size_t kShown = 4;
    const std::vector<int> cycle = find_cycle(dependencies, order);
    std::vector<std::string> names;
    for (const int node : cycle) {
      if (names.size() == kShown) {
        names.push_back("… (" + std::to_string(cycle.size()) + " nodes)");
        break;
      }
      names.push_back(describe(nodes[node]));
    }
    refuse("nodes form a cycle: " + join(names));
  }

  const std::string& where_;
};

}  // namespace

void order_nodes(onnx::ModelProto& model, const std::string& where) {
  const Orderer orderer(where);
  orderer.order_main_graph(*model.mutable_graph());
  for (auto& function : *model.mutable_functions()) orderer.order_function(function);
}

}  // namespace qtool
