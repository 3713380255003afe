#include "quantize/onnxruntime/node_order.h"

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"

namespace qtool {
namespace {

/// Names that a node's subgraphs read without making them.
void collect_captures(const onnx::GraphProto& graph, std::vector<std::string_view>& out) {
  std::unordered_set<std::string_view> made;
  for (const auto& tensor : graph.initializer()) made.insert(tensor.name());
  for (const auto& input : graph.input()) made.insert(input.name());
  for (const auto& node : graph.node()) made.insert(node.output().begin(), node.output().end());
  std::vector<std::string_view> read;
  for (const auto& node : graph.node()) {
    read.insert(read.end(), node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_captures(attribute.g(), read);
      for (const auto& each : attribute.graphs()) collect_captures(each, read);
    }
  }
  for (const auto& output : graph.output()) read.push_back(output.name());
  for (const std::string_view name : read)
    if (!made.contains(name)) out.push_back(name);
}

std::vector<std::string_view> values_read_by(const onnx::NodeProto& node) {
  std::vector<std::string_view> out(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) collect_captures(attribute.g(), out);
    for (const auto& graph : attribute.graphs()) collect_captures(graph, out);
  }
  std::erase(out, std::string_view());
  return out;
}

class Sorter {
 public:
  explicit Sorter(const onnx::GraphProto& graph) : graph_(graph) {
    for (int i = 0; i < graph.node_size(); ++i) {
      const auto values = values_read_by(graph.node(i));
      waits_for_.push_back(values.size());
      if (values.empty()) sorted_.push_back(i);
      for (const std::string_view value : values) readers_[value].push_back(i);
    }
  }

  const std::vector<int>& run() {
    std::set<std::string_view> given;
    for (const auto& tensor : graph_.initializer()) given.insert(tensor.name());
    for (const auto& input : graph_.input()) given.insert(input.name());
    for (const std::string_view name : given) make_ready(name);
    for (std::size_t next = 0; next < sorted_.size(); ++next) {
      for (const std::string& name : graph_.node(sorted_[next]).output()) make_ready(name);
    }
    return sorted_;
  }

 private:
  void make_ready(std::string_view value) {
    const auto found = readers_.find(value);
    if (found == readers_.end()) return;
    for (const int reader : found->second) {
      if (--waits_for_[static_cast<std::size_t>(reader)] == 0) sorted_.push_back(reader);
    }
  }

  const onnx::GraphProto& graph_;
  std::vector<std::size_t> waits_for_;
  std::unordered_map<std::string_view, std::vector<int>> readers_;
  std::vector<int> sorted_;
};

}  // namespace

void sort_as_onnxruntime(onnx::GraphProto& graph) {
  std::vector<int> order = Sorter(graph).run();
  // A value made twice or never would leave nodes over; such a graph keeps its order.
  if (order.size() != static_cast<std::size_t>(graph.node_size())) return;
  std::vector<onnx::NodeProto> nodes;
  nodes.reserve(order.size());
  for (const int index : order) nodes.push_back(std::move(*graph.mutable_node(index)));
  graph.clear_node();
  for (auto& node : nodes) *graph.add_node() = std::move(node);
}

}  // namespace qtool
