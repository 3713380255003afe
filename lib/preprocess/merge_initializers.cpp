#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/graph_view.h"
#include "preprocess/passes.h"
#include "preprocess/scoped_map.h"

namespace qtool {
namespace {

/// What tells a tensor from most others but its name: type, shape and its first bytes, or the hash
/// of all of them.
std::string signature(const Model& model, const onnx::TensorProto& tensor,
                      std::size_t most_bytes = std::string::npos) {
  std::string key = std::to_string(tensor.data_type());
  for (const std::int64_t size : tensor.dims()) key += "," + std::to_string(size);
  const auto bytes = model.tensor_bytes(tensor);
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), most_bytes));
  return key + ":" + std::to_string(std::hash<std::string_view>()(view));
}

bool is_merged(const onnx::TensorProto& tensor) {
  return tensor.data_type() != onnx::TensorProto::STRING;
}

class InitializerMerger {
 public:
  InitializerMerger(const Model& model, const onnx::GraphProto& main) : model_(model) {
    for_each_graph(main, [&](const onnx::GraphProto& graph) {
      for (const auto& tensor : graph.initializer())
        if (is_merged(tensor)) ++beginnings_[beginning(tensor)];
    });
  }

  bool has_merged() const { return has_merged_; }

  void visit(onnx::GraphProto& graph) {
    const auto seen = seen_.mark();
    const auto renames = renames_.mark();
    std::unordered_set<std::string> kept;
    for (const auto& input : graph.input()) kept.insert(input.name());
    for (const auto& output : graph.output()) kept.insert(output.name());
    for (const auto& tensor : graph.initializer()) {
      if (!kept.contains(tensor.name())) look_at(tensor);
    }
    for (auto& node : *graph.mutable_node()) {
      for (auto& input : *node.mutable_input()) {
        if (const auto* name = renames_.find(input)) input = *name;
      }
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) visit(*attribute.mutable_g());
        for (auto& each : *attribute.mutable_graphs()) visit(each);
      }
    }
    renames_.roll_back(renames);
    seen_.roll_back(seen);
  }

 private:
  std::string beginning(const onnx::TensorProto& tensor) const {
    constexpr std::size_t kBytes = 256;
    return signature(model_, tensor, kBytes);
  }

  void look_at(const onnx::TensorProto& tensor) {
    // Most weights begin like no other, and need not be read to their end.
    if (!is_merged(tensor) || beginnings_[beginning(tensor)] < 2) return;
    const std::string key = signature(model_, tensor);
    const auto* first = seen_.find(key);
    if (!first) return seen_.set(key, &tensor);
    const auto a = model_.tensor_bytes(**first), b = model_.tensor_bytes(tensor);
    if (!std::ranges::equal(a, b)) return;
    renames_.set(tensor.name(), (*first)->name());
    has_merged_ = true;
  }

  const Model& model_;
  bool has_merged_ = false;
  std::unordered_map<std::string, int> beginnings_;  ///< how many tensors have them
  ScopedMap<const onnx::TensorProto*> seen_;
  ScopedMap<std::string> renames_;
};

}  // namespace

bool merge_initializers(Model& model) {
  InitializerMerger merger(model, model.graph());
  merger.visit(model.graph());
  if (merger.has_merged()) remove_dead_nodes(model);
  return merger.has_merged();
}

}  // namespace qtool
