#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "model/graph_view.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

std::string hint(const std::string& word, const std::vector<std::string>& known,
                 const std::string& what) {
  if (known.empty()) return "the model has no " + what;
  const std::string nearest = nearest_name(word, known);
  std::string text =
      nearest.empty() ? std::string() : "did you mean '" + printable(nearest, 200) + "'? ";
  return text + "known: " + printable(join(known), 500);
}

/// The symbols that stand for sizes of inputs, in their order.
std::vector<std::string> input_symbols(const onnx::GraphProto& graph) {
  std::vector<std::string> symbols;
  for (const auto& input : graph.input()) {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      const bool is_new = std::ranges::find(symbols, dim.dim_param()) == symbols.end();
      if (!dim.dim_param().empty() && is_new) symbols.push_back(dim.dim_param());
    }
  }
  return symbols;
}

void check_dims(const Sizes& dims, const onnx::GraphProto& graph) {
  const auto symbols = input_symbols(graph);
  for (const auto& [name, size] : dims) {
    const std::string key = "preprocess.dims." + name;
    if (std::ranges::find(symbols, name) == symbols.end()) {
      throw Error(ErrorKind::Usage, key + ": no input has a dimension of that name",
                  hint(name, symbols, "symbolic dimensions"));
    }
    if (size <= 0)
      throw Error(ErrorKind::Usage,
                  key + ": " + std::to_string(size) + ", expected a size above 0");
  }
}

onnx::ValueInfoProto& find_input(onnx::GraphProto& graph, const std::string& name) {
  std::vector<std::string> names;
  for (auto& input : *graph.mutable_input()) {
    if (input.name() == name) return input;
    names.push_back(input.name());
  }
  throw Error(ErrorKind::Usage,
              "preprocess.override_shapes." + name + ": the model has no input of that name",
              hint(name, names, "inputs"));
}

/// Gives an input its shape; what its symbols stand for is added to `sizes`.
void override_shape(onnx::ValueInfoProto& input, const std::vector<std::int64_t>& shape,
                    Sizes& sizes) {
  const std::string key = "preprocess.override_shapes." + input.name();
  const TensorInfo before = tensor_info(input);
  if (before.type == ElementType::Undefined)
    throw Error(ErrorKind::Usage, key + ": the input is no tensor");
  if (before.has_shape && before.shape.size() != shape.size()) {
    throw Error(ErrorKind::Usage, key + ": " + describe_shape(shape) + " has " +
                                      std::to_string(shape.size()) + " axes, expected " +
                                      std::to_string(before.shape.size()) + " as in " +
                                      describe(before));
  }
  auto& dims = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!before.has_shape) dims.add_dim();
    if (shape[axis] < 0) continue;
    const bool is_free = !before.has_shape || before.shape[axis] < 0;
    const std::string symbol = before.has_shape ? before.symbols[axis] : std::string();
    const auto bound = symbol.empty() ? sizes.end() : sizes.try_emplace(symbol, shape[axis]).first;
    if ((!is_free && before.shape[axis] != shape[axis]) ||
        (bound != sizes.end() && bound->second != shape[axis])) {
      throw Error(ErrorKind::Usage,
                  key + ": size " + std::to_string(shape[axis]) + " of axis " +
                      std::to_string(axis) + ", expected " +
                      std::to_string(is_free ? bound->second : before.shape[axis]));
    }
    dims.mutable_dim(static_cast<int>(axis))->set_dim_value(shape[axis]);
  }
}

void set_sizes(onnx::TypeProto& type, const Sizes& sizes) {
  if (!type.has_tensor_type()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const auto found = sizes.find(dim.dim_param());
    if (found != sizes.end()) dim.set_dim_value(found->second);
  }
}

}  // namespace

void set_input_shapes(Model& model, const PreprocessConfig& config) {
  if (config.dims.empty() && config.override_shapes.empty()) return;
  check_dims(config.dims, model.graph());
  Sizes sizes = config.dims;
  for (const auto& [name, shape] : config.override_shapes)
    override_shape(find_input(model.graph(), name), shape, sizes);
  for_each_graph(model.graph(), [&](onnx::GraphProto& graph) {
    for (auto* values :
         {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
      for (auto& value : *values) {
        if (value.type().tensor_type().has_shape()) set_sizes(*value.mutable_type(), sizes);
      }
    }
  });
}

}  // namespace qtool
