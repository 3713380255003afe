#include "model/retired_forms.h"

#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/graph_view.h"
#include "model/model.h"

namespace qtool {
namespace {

using Initializers = std::unordered_map<std::string, const onnx::TensorProto*>;

std::int64_t default_opset(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (is_default_domain(import.domain())) return import.version();
  }
  return 0;
}

/// The one float of an initializer; nothing where it is something else.
std::optional<float> number(const Initializers& initializers, const std::string& name) {
  const auto found = initializers.find(name);
  if (found == initializers.end() || element_type(*found->second) != ElementType::Float ||
      found->second->raw_data().size() != sizeof(float))
    return std::nullopt;
  float value = 0;
  std::memcpy(&value, found->second->raw_data().data(), sizeof value);
  return value;
}

void add_float(onnx::NodeProto& node, const char* name, float value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

/// Makes attributes of the bounds, where both are constants or left out.
void bounds_to_attributes(onnx::NodeProto& node, const Initializers& initializers) {
  std::optional<float> bounds[2];
  for (int slot = 1; slot < node.input_size() && slot <= 2; ++slot) {
    if (node.input(slot).empty()) continue;
    bounds[slot - 1] = number(initializers, node.input(slot));
    if (!bounds[slot - 1]) return;
  }
  node.mutable_input()->DeleteSubrange(1, node.input_size() - 1);
  if (bounds[0]) add_float(node, "min", *bounds[0]);
  if (bounds[1]) add_float(node, "max", *bounds[1]);
}

}  // namespace

void replace_retired_forms(onnx::ModelProto& model) {
  const std::int64_t opset = default_opset(model);
  if (opset > 10) return;
  for_each_graph(*model.mutable_graph(), [&](onnx::GraphProto& graph) {
    Initializers initializers;
    for (const auto& tensor : graph.initializer()) initializers[tensor.name()] = &tensor;
    for (const auto& input : graph.input()) initializers.erase(input.name());
    for (auto& node : *graph.mutable_node()) {
      if (!is_default_domain(node.domain())) continue;
      if (opset == 10 && node.op_type() == "Upsample") node.set_op_type("Resize");
      if (node.op_type() == "Clip" && node.input_size() > 1)
        bounds_to_attributes(node, initializers);
    }
  });
}

}  // namespace qtool
