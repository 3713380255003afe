#include "model/attributes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace qtool {
namespace {

using Type = onnx::AttributeProto::AttributeType;

/// The attribute, empty but for its name, which may be what `name` was taken from, and type.
onnx::AttributeProto& fresh_attribute(onnx::NodeProto& node, std::string name, Type type) {
  auto& attributes = *node.mutable_attribute();
  const auto found = std::ranges::find(attributes, name, &onnx::AttributeProto::name);
  auto& attribute = found == attributes.end() ? *node.add_attribute() : *found;
  attribute.Clear();
  attribute.set_name(std::move(name));
  attribute.set_type(type);
  return attribute;
}

}  // namespace

void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  fresh_attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void set_ints(onnx::NodeProto& node, const std::string& name,
              std::span<const std::int64_t> values) {
  // A copy: the values may be the attribute's own.
  const std::vector<std::int64_t> copy(values.begin(), values.end());
  fresh_attribute(node, name, onnx::AttributeProto::INTS)
      .mutable_ints()
      ->Add(copy.begin(), copy.end());
}

void set_float(onnx::NodeProto& node, const std::string& name, float value) {
  fresh_attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

void set_string(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  const std::string copy = value;
  fresh_attribute(node, name, onnx::AttributeProto::STRING).set_s(copy);
}

void drop_attribute(onnx::NodeProto& node, const std::string& name) {
  auto& attributes = *node.mutable_attribute();
  const auto gone =
      std::remove_if(attributes.begin(), attributes.end(),
                     [&](const onnx::AttributeProto& each) { return each.name() == name; });
  attributes.erase(gone, attributes.end());
}

}  // namespace qtool
