#include "model/types.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "base/error.h"
#include "model/blame.h"
#include "model/einsum.h"

namespace qtool {
namespace {

/// Of a Constant ONNX Runtime makes an initializer, which may have types that the operator got with
/// later opsets only: exporters write integers so at all.
bool is_of_constant(std::string_view line) {
  return line.find("(op_type:Constant)") != std::string_view::npos ||
         line.find("(op_type:Constant,") != std::string_view::npos;
}

/// The first line of `text` that tells of types which cannot be right.
std::optional<std::string> sure_error(std::string_view text) {
  constexpr std::string_view kSure[] = {"has inconsistent type", "has unsupported type",
                                        "differs from existing elem type"};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const std::string_view sure : kSure) {
      if (line.find(sure) != std::string_view::npos && !is_of_constant(line))
        return std::string(line);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return std::nullopt;
}

/// Infers types in place; gives what ONNX says against a node's types.
std::optional<std::string> infer(onnx::ModelProto& model) {
  const onnx::ShapeInferenceOptions options{/*check_type_val=*/true, /*strict_mode_val=*/1,
                                            /*data_prop_val=*/false};
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
    return std::nullopt;
  } catch (const std::exception& error) {
    // All else is left aside: ONNX Runtime takes models whose declared shapes are wrong.
    return sure_error(error.what());
  }
}

/// Asks again to learn the node at fault: `… (op_type:Add, node name: NODE): B has inconsistent
/// type tensor(int64)`.
[[noreturn]] void refuse(const onnx::ModelProto& model, const std::string& where) {
  onnx::ModelProto marked = with_marked_nodes(model);
  const std::string text = infer(marked).value_or("");
  const std::string node = marked_node(text);
  std::string_view what = after_marked_node(text);
  for (const std::string_view head : {"): ", "[TypeInferenceError] "}) {
    if (what.starts_with(head)) what.remove_prefix(head.size());
  }
  throw Error(ErrorKind::Input, where + ": " + (node.empty() ? "" : node + ": ") + reworded(what));
}

void complete(onnx::ValueInfoProto& value, const onnx::ValueInfoProto& inferred) {
  const bool lacks_type = value.type().value_case() == onnx::TypeProto::VALUE_NOT_SET;
  const bool lacks_shape =
      value.type().has_tensor_type() && !value.type().tensor_type().has_shape();
  const bool is_found = inferred.type().value_case() != onnx::TypeProto::VALUE_NOT_SET;
  if ((lacks_type || lacks_shape) && is_found) *value.mutable_type() = inferred.type();
}

}  // namespace

void check_types(onnx::ModelProto& model, const std::string& where) {
  check_einsum(model, where);
  onnx::ModelProto inferred = model;
  if (infer(inferred)) refuse(model, where);
  for (int i = 0; i < model.graph().output_size(); ++i) {
    complete(*model.mutable_graph()->mutable_output(i), inferred.graph().output(i));
  }
}

}  // namespace qtool
