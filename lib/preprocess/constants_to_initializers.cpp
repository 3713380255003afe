#include <array>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

template <typename T>
onnx::TensorProto tensor_of(ElementType type, std::span<const T> values,
                            std::span<const std::int64_t> shape) {
  return make_tensor({}, type, shape, std::as_bytes(values));
}

template <typename T, typename Field>
onnx::TensorProto list_of(ElementType type, const Field& field) {
  const std::vector<T> values(field.begin(), field.end());
  return tensor_of<T>(type, values, std::array{std::int64_t{field.size()}});
}

onnx::TensorProto strings_of(onnx::AttributeProto& attribute, bool is_list) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::STRING);
  if (is_list) {
    tensor.add_dims(attribute.strings_size());
    tensor.mutable_string_data()->Swap(attribute.mutable_strings());
  } else {
    tensor.add_string_data(attribute.s());
  }
  return tensor;
}

/// Adds what a Constant's attribute says to `graph` under `name`, taking it out of the attribute;
/// false where it says nothing.
bool add_value(onnx::AttributeProto& attribute, const std::string& name, onnx::GraphProto& graph) {
  onnx::TensorProto tensor;
  if (attribute.name() == "value" && attribute.has_t()) {
    tensor = std::move(*attribute.mutable_t());
  } else if (attribute.name() == "sparse_value" && attribute.has_sparse_tensor()) {
    auto& sparse = *graph.add_sparse_initializer();
    sparse = std::move(*attribute.mutable_sparse_tensor());
    sparse.mutable_values()->set_name(name);
    return true;
  } else if (attribute.name() == "value_float") {
    tensor = tensor_of<float>(ElementType::Float, std::array{attribute.f()}, {});
  } else if (attribute.name() == "value_floats") {
    tensor = list_of<float>(ElementType::Float, attribute.floats());
  } else if (attribute.name() == "value_int") {
    tensor =
        tensor_of<std::int64_t>(ElementType::Int64, std::array{std::int64_t{attribute.i()}}, {});
  } else if (attribute.name() == "value_ints") {
    tensor = list_of<std::int64_t>(ElementType::Int64, attribute.ints());
  } else if (attribute.name() == "value_string" || attribute.name() == "value_strings") {
    tensor = strings_of(attribute, attribute.name() == "value_strings");
  } else {
    return false;
  }
  tensor.set_name(name);
  *graph.add_initializer() = std::move(tensor);
  return true;
}

void move_constants(onnx::GraphProto& graph) {
  std::unordered_set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  int kept = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    auto& node = *graph.mutable_node(i);
    const bool is_movable = node.op_type() == "Constant" && is_default_domain(node.domain()) &&
                            node.output_size() == 1 && node.attribute_size() == 1 &&
                            !outputs.contains(node.output(0));
    if (is_movable && add_value(*node.mutable_attribute(0), node.output(0), graph)) continue;
    graph.mutable_node()->SwapElements(kept++, i);
  }
  graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
}

}  // namespace

void constants_to_initializers(Model& model) { for_each_graph(model.graph(), move_constants); }

}  // namespace qtool
