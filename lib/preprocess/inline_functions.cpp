#include <map>
#include <string>
#include <tuple>

#include <onnx/inliner/inliner.h>

#include "base/error.h"
#include "base/text.h"
#include "model/node_walk.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using FunctionId = std::tuple<std::string, std::string, std::string>;

FunctionId id_of(const onnx::FunctionProto& function) {
  return {function.domain(), function.name(), function.overload()};
}
FunctionId id_of(const onnx::NodeProto& node) {
  return {node.domain(), node.op_type(), node.overload()};
}

/// ONNX's inliner knows only the attributes that a call gives, so each call is made to give the
/// defaults too.
void write_out_default_attributes(onnx::ModelProto& model) {
  std::map<FunctionId, const onnx::FunctionProto*> functions;
  for (const auto& function : model.functions()) {
    if (function.attribute_proto_size() > 0) functions[id_of(function)] = &function;
  }
  for_each_node(model, [&](onnx::NodeProto& node) {
    const auto called = functions.find(id_of(node));
    if (called == functions.end()) return;
    for (const auto& attribute : called->second->attribute_proto()) {
      if (!find_attribute(node, attribute.name())) *node.add_attribute() = attribute;
    }
  });
}

/// The checker has proved that a function's operators mean the same under the model's opsets, so
/// these hold for all.
void share_opset_imports(Model& model) {
  for (auto& function : *model.proto().mutable_functions()) {
    for (auto& import : *function.mutable_opset_import()) {
      const std::int64_t version = model.opset(import.domain());
      if (version == 0) {
        model.set_opset(import.domain(), import.version());
      } else {
        import.set_version(version);
      }
    }
  }
}

}  // namespace

void inline_functions(Model& model) {
  if (model.proto().functions_size() == 0) return;
  share_opset_imports(model);
  write_out_default_attributes(model.proto());
  try {
    onnx::inliner::InlineLocalFunctions(model.proto());
  } catch (const std::exception& error) {
    throw Error(ErrorKind::Input, "functions of the model: " + printable(error.what()));
  }
}

}  // namespace qtool
