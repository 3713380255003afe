#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// Less than this is not worth a reader's look into another graph.
constexpr std::size_t kMinBytes = Model::kReferenceBytes;

using Content = std::tuple<int, std::vector<std::int64_t>, std::string_view>;

/// What can stand in place of its equals.
struct Shared {
  std::string name;
  bool is_main = false;  ///< the main graph has it
};

/// Finds equal constants of which one or more lie in bodies.
class Search {
 public:
  explicit Search(const Model& model) : model_(model) {}

  void run() {
    for_each_graph(model_.graph(), [&](const onnx::GraphProto& graph) {
      const GraphView view(graph);
      for (const auto& tensor : graph.initializer()) {
        if (!view.is_graph_input(tensor.name()) && !view.is_graph_output(tensor.name()))
          look_at(tensor, &graph == &model_.graph());
      }
    });
  }

  /// Name of a constant that goes -> of the one that stands for it.
  const std::unordered_map<std::string, std::string>& replaced() const { return replaced_; }
  /// Constants of bodies that the main graph takes.
  const std::unordered_set<std::string>& moved() const { return moved_; }

 private:
  void look_at(const onnx::TensorProto& tensor, bool is_main) {
    const auto bytes = model_.tensor_bytes(tensor);
    if (bytes.size() < kMinBytes) return;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const Content content(tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}, text);
    const auto [entry, is_new] = found_.try_emplace(content, Shared{tensor.name(), is_main});
    // The main graph comes first: what it has twice is the business of others.
    if (is_new || is_main) return;
    replaced_[tensor.name()] = entry->second.name;
    if (!entry->second.is_main) moved_.insert(entry->second.name);
  }

  const Model& model_;
  std::map<Content, Shared> found_;
  std::unordered_map<std::string, std::string> replaced_;
  std::unordered_set<std::string> moved_;
};

/// Takes constants out of a body; those that move go to `main`.
void take_out(onnx::GraphProto& body, const Search& found, onnx::GraphProto& main) {
  auto& list = *body.mutable_initializer();
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    const std::string& name = list.Get(i).name();
    if (found.replaced().contains(name)) continue;
    if (found.moved().contains(name)) {
      *main.add_initializer() = std::move(*list.Mutable(i));
      continue;
    }
    if (kept != i) list.SwapElements(kept, i);
    ++kept;
  }
  list.DeleteSubrange(kept, list.size() - kept);
}

void redirect_readers(onnx::GraphProto& graph, const Search& found) {
  for (auto& node : *graph.mutable_node()) {
    for (auto& input : *node.mutable_input()) {
      const auto shared = found.replaced().find(input);
      if (shared != found.replaced().end()) input = shared->second;
    }
  }
}

}  // namespace

bool share_constants(Model& model) {
  if (!has_subgraphs(model.graph())) return false;
  Search found(model);
  found.run();
  if (found.replaced().empty()) return false;
  auto& main = model.graph();
  for_each_graph(main, [&](onnx::GraphProto& graph) {
    if (&graph != &main) take_out(graph, found, main);
    redirect_readers(graph, found);
  });
  return true;
}

}  // namespace qtool
