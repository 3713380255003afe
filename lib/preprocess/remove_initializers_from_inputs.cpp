#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

constexpr std::int64_t kInitializersNeedNoInput = 4;

void remove_from_inputs(onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) initializers.insert(tensor.values().name());
  auto& inputs = *graph.mutable_input();
  const auto has_initializer = [&](const onnx::ValueInfoProto& input) {
    return initializers.contains(input.name());
  };
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), has_initializer), inputs.end());
}

}  // namespace

void remove_initializers_from_inputs(Model& model) {
  if (model.proto().ir_version() >= kInitializersNeedNoInput) return;
  for_each_graph(model.graph(), remove_from_inputs);
  model.proto().set_ir_version(kInitializersNeedNoInput);
}

}  // namespace qtool
