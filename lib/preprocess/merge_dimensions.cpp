#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

constexpr std::string_view kBroadcasts[] = {"Add", "And", "Div", "Max", "Min",   "Mul",
                                            "Or",  "Pow", "Sub", "Sum", "Where", "Xor"};

/// Symbols that were found to stand for one size, each with the one that stands for all.
class SymbolUnion {
 public:
  std::string find(std::string symbol) const {
    for (auto next = parents_.find(symbol); next != parents_.end(); next = parents_.find(symbol))
      symbol = next->second;
    return symbol;
  }

  /// The first of the two stays.
  bool unite(const std::string& a, const std::string& b) {
    const std::string kept = find(a), gone = find(b);
    if (kept == gone) return false;
    parents_[gone] = kept;
    return true;
  }

 private:
  std::map<std::string, std::string> parents_;
};

/// Unites symbols that meet in a node where only equal sizes, or a size of 1, may.
bool unite_of_node(const onnx::NodeProto& node,
                   const std::map<std::string, const onnx::TensorShapeProto*>& shapes,
                   SymbolUnion& symbols) {
  const onnx::TensorShapeProto* widest = nullptr;
  bool united = false;
  for (const auto& input : node.input()) {
    const auto found = shapes.find(input);
    if (found == shapes.end()) continue;
    const auto* shape = found->second;
    if (!widest) {
      widest = shape;
      continue;
    }
    const int common = std::min(shape->dim_size(), widest->dim_size());
    for (int i = 1; i <= common; ++i) {
      const auto& a = widest->dim(widest->dim_size() - i);
      const auto& b = shape->dim(shape->dim_size() - i);
      if (!a.dim_param().empty() && !b.dim_param().empty() && a.dim_param() != b.dim_param())
        united |= symbols.unite(a.dim_param(), b.dim_param());
    }
    if (shape->dim_size() > widest->dim_size()) widest = shape;
  }
  return united;
}

bool unite_of_graph(const onnx::GraphProto& graph, SymbolUnion& symbols) {
  std::map<std::string, const onnx::TensorShapeProto*> shapes;
  const auto note = [&](const onnx::ValueInfoProto& value) {
    if (value.type().tensor_type().has_shape())
      shapes[value.name()] = &value.type().tensor_type().shape();
  };
  std::ranges::for_each(graph.value_info(), note);
  std::ranges::for_each(graph.input(), note);
  bool united = false;
  for (const auto& node : graph.node()) {
    const bool meets = std::ranges::find(kBroadcasts, node.op_type()) != std::end(kBroadcasts);
    if (meets && is_default_domain(node.domain())) united |= unite_of_node(node, shapes, symbols);
  }
  return united;
}

}  // namespace

bool merge_dimensions(Model& model) {
  SymbolUnion symbols;
  bool united = false;
  for_each_graph(std::as_const(model).graph(),
                 [&](const onnx::GraphProto& graph) { united |= unite_of_graph(graph, symbols); });
  if (!united) return false;
  for_each_graph(model.graph(), [&](onnx::GraphProto& graph) {
    for (auto& value : *graph.mutable_value_info()) {
      if (!value.type().tensor_type().has_shape()) continue;
      for (auto& dim :
           *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (!dim.dim_param().empty()) dim.set_dim_param(symbols.find(dim.dim_param()));
      }
    }
  });
  return true;
}

}  // namespace qtool
