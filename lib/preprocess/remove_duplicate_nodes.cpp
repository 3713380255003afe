#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/graph_view.h"
#include "preprocess/foldable.h"
#include "preprocess/passes.h"
#include "preprocess/value_replacer.h"

namespace qtool {
namespace {

/// Everything that a node's values hang on.
std::string signature(const onnx::NodeProto& node) {
  onnx::NodeProto bare;
  bare.set_op_type(node.op_type());
  *bare.mutable_input() = node.input();
  *bare.mutable_attribute() = node.attribute();
  for (auto& attribute : *bare.mutable_attribute()) attribute.clear_doc_string();
  std::sort(bare.mutable_attribute()->begin(), bare.mutable_attribute()->end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  for (const auto& output : node.output()) bare.add_output(output.empty() ? "" : "made");
  return bare.SerializeAsString();
}

class DuplicateRemover : public ValueReplacer {
 private:
  using Outputs = google::protobuf::RepeatedPtrField<std::string>;

  void enter(const onnx::GraphProto&) override { marks_.push_back(made_.mark()); }

  void leave() override {
    made_.roll_back(marks_.back());
    marks_.pop_back();
  }

  const Outputs* replacement(const onnx::NodeProto& node) override {
    if (!is_pure(node)) return nullptr;
    std::string key = signature(node);
    if (const Outputs* outputs = made_.find(key)) return outputs;
    made_.set(key, node.output());
    return nullptr;
  }

  ScopedMap<Outputs> made_;
  std::vector<std::size_t> marks_;
};

void rename_reads(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for_each_graph(graph, [&](onnx::GraphProto& each) {
    for (auto& node : *each.mutable_node()) {
      for (auto& input : *node.mutable_input()) {
        if (input == from) input = to;
      }
    }
  });
}

/// Of two nodes that compute the same value, of which one makes an output of the graph, leaves the
/// first, which makes that output. Whether a node went.
bool share_outputs(onnx::GraphProto& graph) {
  std::unordered_set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::unordered_map<std::string, onnx::NodeProto*> makers;
  int kept = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    auto& node = *graph.mutable_node(i);
    const bool is_candidate = is_pure(node) && node.output_size() == 1 && !node.output(0).empty();
    const auto [found, is_first] =
        is_candidate ? makers.try_emplace(signature(node), &node) : std::pair(makers.end(), true);
    const bool stays = is_first || (outputs.contains(node.output(0)) &&
                                    outputs.contains(found->second->output(0)));
    if (stays) {
      graph.mutable_node()->SwapElements(kept++, i);
      continue;
    }
    std::string& first = *found->second->mutable_output(0);
    const bool takes_name = outputs.contains(node.output(0));
    rename_reads(graph, takes_name ? first : node.output(0), takes_name ? node.output(0) : first);
    if (takes_name) first = node.output(0);
  }
  const int gone = graph.node_size() - kept;
  graph.mutable_node()->DeleteSubrange(kept, gone);
  return gone > 0;
}

}  // namespace

void remove_duplicate_nodes(Model& model) {
  // What reads a value under its new name may have become a duplicate by that.
  bool changed = true;
  while (changed) {
    DuplicateRemover().visit(model.graph());
    changed = false;
    for_each_graph(model.graph(),
                   [&](onnx::GraphProto& graph) { changed |= share_outputs(graph); });
  }
}

}  // namespace qtool
