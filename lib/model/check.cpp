#include "model/check.h"

#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include "base/checked.h"
#include "base/error.h"
#include "model/blame.h"
#include "model/functions.h"
#include "model/graph_view.h"
#include "model/messages.h"
#include "model/model.h"
#include "model/node_walk.h"
#include "model/save.h"

namespace qtool {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what,
                         const std::string& hint = {}) {
  throw Error(ErrorKind::Input, where + ": " + what, hint);
}

/// What the ONNX checker says, or nothing.
std::optional<std::string> objection(const onnx::ModelProto& model) {
  try {
    onnx::checker::check_model(model);
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// `No Op registered for Gelu with domain_version of 17` in plainer words; other text as it is.
std::string plainer(std::string_view what) {
  constexpr std::string_view kBeforeVersion = " with domain_version of ";
  const auto at = what.find(kBeforeVersion);
  if (!what.starts_with("No Op registered for ") || at == std::string_view::npos)
    return reworded(what);
  return "opset " + std::string(what.substr(at + kBeforeVersion.size())) +
         " has no operator of that type";
}

/// Asks the ONNX checker, and again to learn the node at fault.
void ask_checker(const onnx::ModelProto& model, const std::string& where) {
  if (!objection(model)) return;
  const std::string text = objection(with_marked_nodes(model)).value_or("");
  const std::string node = marked_node(text);
  const std::string_view what = std::string_view(text).substr(0, text.find("\n\n==> Context: "));
  refuse(where, (node.empty() ? "" : node + ": ") + plainer(what));
}

/// The checker prints a warning about experimental operators, and what it says of unknown ones is
/// hard to read.
void check_operators(const onnx::ModelProto& model, const std::string& where) {
  for_each_node(model, [&](const onnx::NodeProto& node) {
    if (!is_default_domain(node.domain())) return;
    const bool is_known = onnx::OpSchemaRegistry::Schema(node.op_type(), node.domain()) != nullptr;
    if (is_known && !onnx::checker::check_is_experimental_op(node)) return;
    refuse(where, describe(node) + ": ONNX has no operator of that type",
           "an operator of another library needs that library's domain");
  });
}

void check_sparse(const onnx::SparseTensorProto& tensor, const std::string& where) {
  const auto shape = std::span(tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size()));
  if (!checked_element_count(shape)) {
    refuse(where, "sparse tensor " + in_quotes(tensor.values().name()) + ": impossible shape " +
                      describe_shape(shape));
  }
}

void check_sparse_tensors(const onnx::ModelProto& model, const std::string& where) {
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.sparse_initializer()) check_sparse(tensor, where);
  });
  for_each_node(model, [&](const onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_sparse_tensor()) check_sparse(attribute.sparse_tensor(), where);
      for (const auto& tensor : attribute.sparse_tensors()) check_sparse(tensor, where);
    }
  });
}

/// An initializer that is a graph input too must have its type.
void check_default_values(const onnx::GraphProto& graph, const std::string& where) {
  std::unordered_map<std::string_view, ElementType> declared;
  for (const auto& input : graph.input()) {
    if (input.type().has_tensor_type()) {
      declared.emplace(input.name(),
                       static_cast<ElementType>(input.type().tensor_type().elem_type()));
    }
  }
  for (const auto& tensor : graph.initializer()) {
    const auto found = declared.find(tensor.name());
    if (found == declared.end() || found->second == element_type(tensor)) continue;
    refuse(where, "tensor " + in_quotes(tensor.name()) + " has type " +
                      element_type_name(element_type(tensor)) + ", expected " +
                      element_type_name(found->second) + " as the graph input of that name");
  }
}

bool has_unknown_type(const onnx::ValueInfoProto& value) {
  const auto& type = value.type();
  return type.has_tensor_type() &&
         !is_known(static_cast<ElementType>(type.tensor_type().elem_type()));
}

void check_value_types(const onnx::GraphProto& graph, const std::string& where) {
  for (const auto* values : {&graph.input(), &graph.output()}) {
    for (const auto& value : *values) {
      if (!has_unknown_type(value)) continue;
      refuse(where, (values == &graph.input() ? "graph input " : "graph output ") +
                        in_quotes(value.name()) + ": unknown data type " +
                        std::to_string(value.type().tensor_type().elem_type()));
    }
  }
}

bool lacks_type(const onnx::ValueInfoProto& value) {
  return value.type().value_case() == onnx::TypeProto::VALUE_NOT_SET;
}

bool lacks_shape(const onnx::ValueInfoProto& value) {
  if (lacks_type(value)) return true;
  return value.type().has_tensor_type() && !value.type().tensor_type().has_shape();
}

bool has_all_shapes(const onnx::GraphProto& graph) {
  for (const auto& value : graph.input()) {
    if (lacks_shape(value)) return false;
  }
  for (const auto& value : graph.output()) {
    if (lacks_shape(value)) return false;
  }
  return true;
}

/// Makes up what the checker wants to see of an input or output.
void make_up_shape(onnx::ValueInfoProto& value) {
  if (!lacks_shape(value)) return;
  auto& type = *value.mutable_type()->mutable_tensor_type();
  if (!type.has_elem_type()) type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
}

}  // namespace

void check_sound(const onnx::ModelProto& model, const std::string& where) {
  check_functions(model, where);
  check_operators(model, where);
  check_sparse_tensors(model, where);
  check_value_types(model.graph(), where);
  check_default_values(model.graph(), where);
  if (has_all_shapes(model.graph())) return ask_checker(model, where);
  onnx::ModelProto complete = model;
  for (auto& input : *complete.mutable_graph()->mutable_input()) {
    if (lacks_type(input)) refuse(where, "graph input " + in_quotes(input.name()) + " has no type");
    make_up_shape(input);
  }
  for (auto& output : *complete.mutable_graph()->mutable_output()) make_up_shape(output);
  ask_checker(complete, where);
}

void check_model(const Model& model, const std::string& what) {
  for (const auto& input : model.graph().input()) {
    if (lacks_shape(input))
      refuse(what, "graph input " + in_quotes(input.name()) +
                       " has no shape, which the ONNX checker demands");
  }
  for (const auto& output : model.graph().output()) {
    if (lacks_shape(output)) {
      refuse(what, "graph output " + in_quotes(output.name()) +
                       " has no shape, which the ONNX checker demands");
    }
  }
  check_operators(model.proto(), what);
  ask_checker(model.proto(), what);
}

}  // namespace qtool
