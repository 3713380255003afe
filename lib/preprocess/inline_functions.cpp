#include <algorithm>
#include <map>
#include <optional>

#include <onnx/inliner/inliner.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

// Functions that call each other twice double in size at each level: a small file can ask for more
// nodes than there are atoms.
constexpr std::int64_t kMaxInlinedNodes = 10'000'000;

std::string function_id(std::string_view domain, const std::string& name,
                        const std::string& overload) {
  std::string id = (is_default_domain(domain) ? std::string() : std::string(domain)) + ":" + name;
  return overload.empty() ? id : id + ":" + overload;
}
std::string function_id(const onnx::FunctionProto& function) {
  return function_id(function.domain(), function.name(), function.overload());
}
std::string function_id(const onnx::NodeProto& node) {
  return function_id(node.domain(), node.op_type(), node.overload());
}

/// Calls `visit` for each of `nodes` and for the nodes of their subgraphs.
template <typename Nodes, typename Visit>
void for_each_node(Nodes& nodes, const Visit& visit) {
  for (auto& node : nodes) {
    visit(node);
    if constexpr (std::is_const_v<Nodes>) {
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) for_each_node(attribute.g().node(), visit);
        for (const auto& graph : attribute.graphs()) for_each_node(graph.node(), visit);
      }
    } else {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) for_each_node(*attribute.mutable_g()->mutable_node(), visit);
        for (auto& graph : *attribute.mutable_graphs()) for_each_node(*graph.mutable_node(), visit);
      }
    }
  }
}

/// Counts the nodes that a model would have with all calls replaced; throws where calls go round in
/// circles.
class ExpandedSize {
 public:
  explicit ExpandedSize(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_[function_id(function)].function = &function;
  }

  std::int64_t of(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    std::int64_t total = 0;
    for_each_node(nodes, [&](const onnx::NodeProto& node) {
      const auto called = functions_.find(function_id(node));
      const std::int64_t size = called == functions_.end() ? 1 : of(called->second);
      total = std::min(total + size, kMaxInlinedNodes + 1);
    });
    return total;
  }

 private:
  struct Entry {
    const onnx::FunctionProto* function = nullptr;
    bool is_open = false;
    std::optional<std::int64_t> size;
  };

  std::int64_t of(Entry& entry) {
    if (entry.size) return *entry.size;
    if (entry.is_open) {
      throw Error(ErrorKind::Input, "function '" + printable(entry.function->name()) +
                                        "': calls itself, functions must not be recursive");
    }
    entry.is_open = true;
    entry.size = of(entry.function->node());
    entry.is_open = false;
    return *entry.size;
  }

  std::map<std::string, Entry> functions_;
};

/// ONNX's inliner knows only the attributes that a call gives, so each call is made to give the
/// defaults too.
void write_out_default_attributes(onnx::ModelProto& model) {
  std::map<std::string, const onnx::FunctionProto*> functions;
  for (const auto& function : model.functions()) {
    if (function.attribute_proto_size() > 0) functions[function_id(function)] = &function;
  }
  const auto complete = [&](onnx::NodeProto& node) {
    const auto called = functions.find(function_id(node));
    if (called == functions.end()) return;
    for (const auto& attribute : called->second->attribute_proto()) {
      if (!find_attribute(node, attribute.name())) *node.add_attribute() = attribute;
    }
  };
  for_each_node(*model.mutable_graph()->mutable_node(), complete);
  for (auto& function : *model.mutable_functions())
    for_each_node(*function.mutable_node(), complete);
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

void inline_functions(Model& model, std::vector<std::string>& notes) {
  if (model.proto().functions_size() == 0) return;
  if (ExpandedSize(model.proto()).of(model.graph().node()) > kMaxInlinedNodes) {
    throw Error(ErrorKind::Input, "functions of the model: more than " +
                                      std::to_string(kMaxInlinedNodes) +
                                      " nodes once their bodies stand in place of their calls");
  }
  share_opset_imports(model);
  write_out_default_attributes(model.proto());
  try {
    onnx::inliner::InlineLocalFunctions(model.proto());
  } catch (const std::exception& error) {
    throw Error(ErrorKind::Input, "functions of the model: " + printable(error.what()));
  }
  if (model.proto().functions_size() > 0) {
    notes.push_back("functions: " + std::to_string(model.proto().functions_size()) +
                    " stay as they are");
  }
}

}  // namespace qtool
