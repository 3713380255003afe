#include "preprocess/runtime_types.h"

#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "preprocess/value_type.h"
#include "runtime/session.h"

namespace qtool {
namespace {

using Values = std::unordered_map<std::string, onnx::ValueInfoProto*>;

/// What the graph says of its values.
Values declared_values(onnx::GraphProto& graph) {
  Values values;
  for (auto& value : *graph.mutable_value_info()) values[value.name()] = &value;
  for (auto& value : *graph.mutable_output()) values[value.name()] = &value;
  return values;
}

std::vector<std::string> untyped_values(const onnx::GraphProto& graph, const Values& declared) {
  std::vector<std::string> values;
  for (const auto& node : graph.node()) {
    for (const auto& output : node.output()) {
      const auto found = declared.find(output);
      if (!output.empty() && (found == declared.end() || !is_typed(found->second->type())))
        values.push_back(output);
    }
  }
  return values;
}

void set_type(onnx::ValueInfoProto& value, const TensorInfo& info) {
  value.set_name(info.name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<std::int32_t>(info.type));
  // ONNX Runtime says the same of a scalar and of an unknown rank.
  if (!info.has_shape || info.shape.empty() || type.has_shape()) return;
  for (std::size_t axis = 0; axis < info.shape.size(); ++axis) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (info.shape[axis] >= 0) {
      dim.set_dim_value(info.shape[axis]);
    } else if (!info.symbols[axis].empty()) {
      dim.set_dim_param(info.symbols[axis]);
    }
  }
}

}  // namespace

bool add_runtime_types(Model& model, std::vector<std::string>& notes) {
  Values declared = declared_values(model.graph());
  const auto values = untyped_values(model.graph(), declared);
  if (values.empty()) return false;
  onnx::ModelProto question = model.proto();
  for (const auto& value : values) question.mutable_graph()->add_output()->set_name(value);
  try {
    const Model asked = model.with_proto(std::move(question));
    const Session session(asked, {.optimization = SessionConfig::Optimization::None, .taps = {}});
    for (const TensorInfo& info : session.outputs().last(values.size())) {
      if (info.type == ElementType::Undefined) continue;
      auto*& value = declared[info.name];
      if (!value) value = model.graph().add_value_info();
      set_type(*value, info);
    }
    return true;
  } catch (const Error& error) {
    notes.push_back("types: " + std::to_string(values.size()) +
                    " values stay without, the first is '" + printable(values.front(), 200) +
                    "': " + error.what());
    return false;
  }
}

}  // namespace qtool
